import { OperatorError, UsageError } from '../../base/errors.ts';
import { isMonth, type Month } from '../../domain/months.ts';
import {
  ArchiveRefused,
  archivedTables,
  detachMonth,
  listMonths,
  refusalToDetach,
} from '../../services/months/archive.ts';
import { listed, viewOf } from '../print.ts';
import { withGateway } from '../process.ts';
import type { CommandCall, Explained } from '../run.ts';

type Options = Explained & { readonly yes?: true };

/** Months of events, deliveries, attempts and audit rows: lists them, or detaches one. */
export async function archive({ args: [what, month], options }: CommandCall<Options>) {
  const { by, reason, yes } = options;
  if (what === 'list') return await list();
  if (!isMonth(month ?? '')) throw new UsageError('The month must be written as 2026-11.');
  if (by === undefined || reason === undefined)
    throw new UsageError('archive detach needs --by and --reason');
  return await detach(month as Month, { by, reason, yes: yes === true });
}

async function list() {
  const months = (await withGateway({}, ({ deps }) => listMonths(deps.orm.em.fork()))).map(viewOf);
  const none = 'No month yet: a worker makes them ahead, start one with "start --role worker".';
  const next =
    'Take an old one out of the tables with "archive detach MONTH", which says first how it is dumped.';
  const columns = ['month', 'until', 'bytes', 'detached_at', ['BY', 'detached_by']] as const;
  return { json: { months }, ...listed(months, { columns, none, next }) };
}

type Detach = { readonly by: string; readonly reason: string; readonly yes: boolean };

async function detach(month: Month, { by, reason, yes }: Detach) {
  const dump = dumpCommand(month, archivedTables(month));
  const tables = await withGateway({ by }, async ({ deps }) => {
    const em = deps.orm.em.fork();
    const refusal = await refusalToDetach(em, deps, await listMonths(em), month);
    if (refusal) throw new OperatorError(...split(refusal));
    if (!yes)
      throw new OperatorError(
        `Nothing was detached yet. Dump ${month} first: ${dump}`,
        `Look at the dump with "pg_restore --list", then run this command again with --yes`,
      );
    try {
      return await detachMonth(deps, { month, by, reason });
    } catch (error) {
      throw error instanceof ArchiveRefused
        ? new OperatorError(...split(error.message), { cause: error })
        : error;
    }
  });
  const drop = `drop table ${tables.join(', ')};`;
  return {
    json: { month, detached: tables, next: drop },
    text: `Detached: ${tables.join(', ')}. They are plain tables now that nothing reads. When the dump is safe, drop them:`,
    copy: [drop],
  };
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
