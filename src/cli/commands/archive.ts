import type { Command } from 'commander';
import { OperatorError, UsageError } from '../../base/errors.ts';
import { DECISION_LIMITS } from '../../domain/decision.ts';
import { isMonth, type Month } from '../../domain/months.ts';
import { text } from '../arguments.ts';
import { answering, group, leaf } from '../run.ts';
import { listing } from '../table.ts';

/** `archive`. */
export function addArchiveCommands(program: Command): void {
  const archive = group(program, 'archive', 'months of events, deliveries, attempts and audit rows');
  leaf(archive, 'list', 'the months that there are, oldest first').action(answering(list));
  leaf(archive, 'detach <month>', 'takes a month out of the tables, after it was dumped; never the ledger')
    .requiredOption('--by <name>', 'who decided', text(DECISION_LIMITS.name))
    .requiredOption('--reason <text>', 'why', text(DECISION_LIMITS.reason))
    .option('--yes', 'the month was dumped and the dump was looked at')
    .action(answering(detach));
}

async function list() {
  const [{ withGateway }, { listMonths }] = await Promise.all([
    import('../process.ts'),
    import('../../services/months/archive.ts'),
  ]);
  const months = await withGateway({}, ({ deps }) => listMonths(deps.orm.em.fork()));
  const shown = months.map(({ month, until, detachedAt, detachedBy, bytes }) => ({
    month,
    until,
    bytes: bytes.toString(),
    detached_at: detachedAt?.toISOString() ?? null,
    detached_by: detachedBy,
  }));
  const rows = shown.map((row) => [row.month, row.until, row.bytes, row.detached_at, row.detached_by]);
  const none = 'No month yet: a worker makes them ahead, start one with "start --role worker".';
  const next =
    'Take an old one out of the tables with "archive detach MONTH", which says first how it is dumped.';
  return {
    json: { months: shown },
    ...listing({ header: ['MONTH', 'UNTIL', 'BYTES', 'DETACHED', 'BY'], rows, none, next }),
  };
}

type Detach = { readonly by: string; readonly reason: string; readonly yes?: true };

async function detach({ args, options }: { args: readonly string[]; options: Detach }) {
  const month = monthIn(args[0] ?? '');
  const [{ withGateway }, archive] = await Promise.all([
    import('../process.ts'),
    import('../../services/months/archive.ts'),
  ]);
  const dump = dumpCommand(month, archive.archivedTables(month));
  const tables = await withGateway({ by: options.by }, async ({ deps }) => {
    const em = deps.orm.em.fork();
    const refusal = await archive.refusalToDetach(em, deps, await archive.listMonths(em), month);
    if (refusal) throw new OperatorError(...split(refusal));
    if (!options.yes)
      throw new OperatorError(
        `Nothing was detached yet. Dump ${month} first: ${dump}`,
        `Look at the dump with "pg_restore --list", then run this command again with --yes`,
      );
    try {
      return await archive.detachMonth(deps, { month, by: options.by, reason: options.reason });
    } catch (error) {
      if (error instanceof archive.ArchiveRefused)
        throw new OperatorError(...split(error.message), { cause: error });
      throw error;
    }
  });
  const drop = `drop table ${tables.join(', ')};`;
  return {
    json: { month, detached: tables, next: drop },
    text: `Detached: ${tables.join(', ')}. They are plain tables now that nothing reads. When the dump is safe, drop them:`,
    copy: [drop],
  };
}

function monthIn(given: string): Month {
  if (!isMonth(given)) throw new UsageError('The month must be written as 2026-11.');
  return given;
}

/** The exact command that keeps a copy of the rows that are about to be removed. */
function dumpCommand(month: Month, tables: readonly string[]): string {
  return `pg_dump --dbname="$DATABASE_URL" --format=custom --file=gateway-${month}.dump ${tables.map((name) => `--table=${name}`).join(' ')}`;
}

/** A refusal is one or two sentences; the last one says what to do. */
function split(refusal: string): [message: string, nextAction: string] {
  const at = refusal.lastIndexOf('. ');
  return at < 0 ? [refusal, 'See "gateway archive list"'] : [refusal.slice(0, at), refusal.slice(at + 2)];
}
