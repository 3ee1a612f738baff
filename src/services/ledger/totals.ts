import { firstRow, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

const BATCH_LINES = 5_000;
/**
 * A backlog of a day without a worker is folded in one go; what is left after that waits for the next turn.
 */
const MAX_BATCHES = 1_000;

/**
 * Moves lines from `balance_changes` into `balance_totals`, until few are left. No
 * balance changes by that: each batch is one statement, so a reader sees a line in
 * exactly one of the two. Postings only add rows and never wait for it; several workers
 * may run it, because each takes other lines. Returns how many lines were moved.
 */
export function foldBalances(deps: Deps): Promise<number> {
  return inBatches(() => foldLines(deps));
}

/** Moves the counts of added rows into `row_counts` in the same way. Returns how many changes were moved. */
export function foldCounts(deps: Deps): Promise<number> {
  return inBatches(() => foldChanges(deps));
}

/** Moves what completions added to their days into `daily_volumes` likewise. Returns how many were moved. */
export function foldVolumes(deps: Deps): Promise<number> {
  return inBatches(() => foldDays(deps));
}

async function inBatches(batch: () => Promise<number>): Promise<number> {
  let moved = 0;
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const rows = await batch();
    moved += rows;
    if (rows < BATCH_LINES) break;
  }
  return moved;
}

async function foldLines(deps: Deps): Promise<number> {
  // Totals are written in the order of their key: two folds
  // that meet wait for each other and cannot lock crosswise.
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ lines: number }>`with taken as (
       delete from balance_changes where (transaction_id, line) in
         (select transaction_id, line from balance_changes limit ${BATCH_LINES} for update skip locked)
       returning merchant_id, mode, network, currency, account, amount_units, posted_at
     ), added as (
       insert into balance_totals as b (merchant_id, mode, network, currency, account, amount_units,
         posted_at)
       select merchant_id, mode, network, currency, account, sum(amount_units), max(posted_at) from taken
       group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
       on conflict (merchant_id, mode, network, currency, account)
       do update set amount_units = b.amount_units + excluded.amount_units,
         posted_at = greatest(b.posted_at, excluded.posted_at)
     )
     select count(*)::int as lines from taken`,
  );
  return row?.lines ?? 0;
}

async function foldChanges(deps: Deps): Promise<number> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ changes: number }>`with taken as (
       delete from row_count_changes
         where id in (select id from row_count_changes limit ${BATCH_LINES} for update skip locked)
       returning list, merchant_id, mode, rows
     ), added as (
       insert into row_counts as c (list, merchant_id, mode, rows)
       select list, merchant_id, mode, sum(rows) from taken group by 1, 2, 3 order by 1, 2, 3
       on conflict (list, merchant_id, mode) do update set rows = c.rows + excluded.rows
     )
     select count(*)::int as changes from taken`,
  );
  return row?.changes ?? 0;
}

async function foldDays(deps: Deps): Promise<number> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ changes: number }>`with taken as (
       delete from daily_volume_changes
         where id in (select id from daily_volume_changes limit ${BATCH_LINES} for update skip locked)
       returning merchant_id, mode, day, cents, deposits
     ), added as (
       insert into daily_volumes as v (merchant_id, mode, day, cents, deposits)
       select merchant_id, mode, day, sum(cents), sum(deposits) from taken group by 1, 2, 3 order by 1, 2, 3
       on conflict (merchant_id, mode, day)
       do update set cents = v.cents + excluded.cents, deposits = v.deposits + excluded.deposits
     )
     select count(*)::int as changes from taken`,
  );
  return row?.changes ?? 0;
}
