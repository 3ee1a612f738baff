import { pause } from '../../base/async/pause.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import { type Month, startOf } from '../../domain/months.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { PARTITIONED_TABLES, partitionOf } from './tables.ts';

const LOCK_TIMEOUT = '500ms';
const TRIES = 20;
const PAUSE_MS = 500;
/** PostgreSQL's code for a lock that could not be had in time. */
const LOCK_NOT_AVAILABLE = '55P03';

export type ArchiveMonth = {
  readonly month: Month;
  /** Its rows lie before this one; null for the newest partitions, which have no end yet. */
  readonly until: Month | null;
  readonly detachedAt: Date | null;
  readonly detachedBy: string | null;
  /** The size of the tables that may be detached, without the ledger. */
  readonly bytes: bigint;
};

/**
 * A month that cannot be detached now. The message says
 * why and ends with the next action; nothing was changed.
 */
export class ArchiveRefused extends Error {
  override readonly name = 'ArchiveRefused';
}

/** Every month of the partitioned tables, oldest first. */
export async function listMonths(em: Em): Promise<ArchiveMonth[]> {
  type Row = Omit<ArchiveMonth, 'detachedAt' | 'bytes'> & { detachedAt: string | null; bytes: string };
  const months = await rows(
    em,
    sql<Row>`select to_char(first_month, 'YYYY-MM') as month,
       to_char(lead(first_month) over (order by first_month), 'YYYY-MM') as until,
       detached_at, detached_by, (select
         coalesce(sum(pg_total_relation_size(to_regclass(t || to_char(first_month, '_YYYY_MM')))), 0)
         from unnest(${ARCHIVED}::text[]) t)::text as bytes
     from partition_months order by first_month`,
  );
  return months.map((row) => ({
    ...row,
    detachedAt: row.detachedAt ? new Date(row.detachedAt) : null,
    bytes: BigInt(row.bytes),
  }));
}

/** The tables of a month that leave the database with it. */
export function archivedTables(month: Month): string[] {
  return ARCHIVED.map((table) => partitionOf(table, month));
}

const ARCHIVED = PARTITIONED_TABLES.filter(({ archived }) => archived).map(({ name }) => name);

/**
 * Why a month cannot be detached, with what to do; undefined if it can. Only the oldest month
 * that is left can be, so that what is missing of a deposit's trail is always its beginning,
 * and only when no delivery of it can be sent or resent any more and no deposit of it is open.
 */
export async function refusalToDetach(
  em: Em,
  deps: Deps,
  months: readonly ArchiveMonth[],
  month: Month,
): Promise<string | undefined> {
  const found = months.find((row) => row.month === month);
  const holder = months.findLast((row) => row.month < month);
  if (!found)
    return holder
      ? `The partitions of ${holder.month} hold ${month} as well. See "gateway archive list"`
      : `There are no partitions of ${month}. See "gateway archive list"`;
  if (found.detachedAt)
    return `${month} was detached already, by ${found.detachedBy ?? 'nobody known'}. See "gateway archive list"`;
  const oldest = months.find((row) => row.detachedAt === null);
  if (oldest && oldest.month !== month)
    return `${oldest.month} is older and still attached. Archive and detach it first`;
  const until = found.until === null ? undefined : startOf(found.until);
  const freeAt = until && new Date(until.getTime() + deps.settings.webhookRetentionMs);
  if (!freeAt || freeAt > deps.now())
    return `Deliveries of ${month} can still be resent${freeAt ? ` until ${freeAt.toISOString().slice(0, 10)}` : ''}. Wait, or set WEBHOOK_RETENTION`;
  return await unfinished(em, month);
}

async function unfinished(em: Em, month: Month): Promise<string | undefined> {
  const row = await firstRow(
    em,
    sql<{ deliveries: number; deposits: number }>`
      select (select count(*)::int from ${sql.table(partitionOf('webhook_deliveries', month))}
        where status = 'pending') as deliveries,
        (select count(*)::int from deposits d where d.status = any(${WAITING_STATES})
           and exists (select 1 from ${sql.table(partitionOf('deposit_transitions', month))} t
             where t.deposit_id = d.id)) as deposits`,
  );
  if (row && row.deliveries > 0)
    return `${row.deliveries} deliveries of ${month} are on their way. See "gateway webhook list --status pending", and try again when they have ended`;
  if (row && row.deposits > 0)
    return `${row.deposits} deposits of ${month} are still open. See "gateway deposit stuck", and try again when they are completed or failed`;
  return undefined;
}

/**
 * Takes events, deliveries, attempts and audit rows of a month out of the tables,
 * together; they become tables of their own, which nothing reads any more, and the
 * ledger stays. Keeps who did it and why. Throws {@link ArchiveRefused} when it
 * must not be done now, also when the locks could not be had within some seconds.
 */
export async function detachMonth(
  deps: Deps,
  input: { month: Month; by: string; reason: string },
): Promise<readonly string[]> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await deps.orm.em.fork().transactional(async (em) => await detach(em, deps, input));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE)) throw error;
      if (tries >= TRIES)
        throw new ArchiveRefused(
          'The tables are in use all the time; nothing was changed. Stop what reads them for long and try again',
          {
            cause: error,
          },
        );
      await pause(PAUSE_MS);
    }
  }
}

async function detach(
  em: Em,
  deps: Deps,
  { month, by, reason }: { month: Month; by: string; reason: string },
): Promise<readonly string[]> {
  await run(em, sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`);
  await run(em, sql`lock table partition_months in exclusive mode`);
  const refusal = await refusalToDetach(em, deps, await listMonths(em), month);
  if (refusal) throw new ArchiveRefused(refusal);
  // A resend that is being written now is invisible to the check until its transaction
  // ends: its merchant is told that the webhook comes, and it would leave with the month.
  await run(em, sql`lock table ${sql.table(partitionOf('webhook_deliveries', month))} in share mode`);
  const late = await unfinished(em, month);
  if (late) throw new ArchiveRefused(late);
  for (const table of ARCHIVED)
    await run(
      em,
      sql`alter table ${sql.table(table)} detach partition ${sql.table(partitionOf(table, month))}`,
    );
  await run(
    em,
    sql`update partition_months set detached_at = ${deps.now()}, detached_by = ${by},
        detached_reason = ${reason}
        where first_month = ${`${month}-01`}::date`,
  );
  await recordAction(em, deps, { action: 'archive.detach', subject: month, reason });
  return archivedTables(month);
}
