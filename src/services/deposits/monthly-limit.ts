import { type Deposit, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

const FOLD_BATCH = 5_000;
const MAX_BATCHES = 100;

/**
 * Counts a live deposit into its merchant's month, inside the transaction that completes it. Returns
 * false, with nothing counted, when it would cross the limit; reaching it exactly is allowed. Of two at
 * once of which only one fits under the limit, exactly one is counted. Throws when another transaction
 * that counts under the same limit is not over yet, instead of waiting for it with a connection.
 */
export async function takeMonthlyLimit(em: Em, deposit: Deposit): Promise<boolean> {
  if (deposit.mode !== 'live') return true;
  await addToMonth(em, deposit, deposit.amountUsdCents ?? 0n);
  // Read after the row above was written: that row's reference to
  // the merchant and a change of the limit exclude each other.
  const { monthlyLimitCents: limit } = await em.findOneOrFail(Merchant, deposit.merchantId, {
    refresh: true,
  });
  if (limit == null || (await countedUnderLock(em, deposit)) <= limit) return true;
  await run(
    em,
    sql`delete from monthly_changes where deposit_id = ${deposit.id} and sequence = ${deposit.sequence}`,
  );
  return false;
}

/** Counts a released deposit: an operator's decision is not refused by the limit. */
export async function countReleased(em: Em, deposit: Deposit): Promise<void> {
  if (deposit.mode === 'live') await addToMonth(em, deposit, deposit.amountUsdCents ?? 0n);
}

/** Gives a completed deposit's amount back to its month, when it fails after all. */
export async function giveBackMonthlyLimit(em: Em, deposit: Deposit): Promise<void> {
  if (deposit.mode === 'live') await addToMonth(em, deposit, -(deposit.amountUsdCents ?? 0n));
}

/**
 * Moves what completions have added into the totals of the months. Each batch
 * is one transaction of one statement, so that a reader of totals and changes
 * sees each deposit exactly once. Returns how many changes were moved.
 */
export async function foldMonths(deps: Deps): Promise<number> {
  let moved = 0;
  for (let batches = 0; batches < MAX_BATCHES; batches += 1) {
    const { changes = 0 } = (await firstRow(deps.orm.em.fork(), FOLD)) ?? {};
    moved += changes;
    if (changes < FOLD_BATCH) break;
  }
  return moved;
}

/** The UTC month of detection, as the limit counts it: "2026-11". */
function monthOf(deposit: Deposit): string {
  return deposit.detectedAt.toISOString().slice(0, 7);
}

/**
 * Adds one row and no more: nobody waits for anybody here, and every
 * deposit is counted, whether its merchant has a limit or not.
 */
async function addToMonth(em: Em, deposit: Deposit, cents: bigint): Promise<void> {
  await run(
    em,
    sql`insert into monthly_changes (deposit_id, sequence, merchant_id, month, cents)
     values (${deposit.id}, ${deposit.sequence}, ${deposit.merchantId}, ${monthOf(deposit)}, ${cents})`,
  );
}

/**
 * What is counted of the deposit's month, itself included, while no other deposit under the
 * limit can be counted. The lock is taken by a statement of its own before the sum: what the
 * previous holder of the lock counted is visible only to a snapshot that is taken after it.
 */
async function countedUnderLock(em: Em, deposit: Deposit): Promise<bigint> {
  const { merchantId } = deposit;
  const month = monthOf(deposit);
  const lock = sql`select 1 from monthly_totals where merchant_id = ${merchantId} and month = ${month}
    for update nowait`;
  if (!(await firstRow(em, lock))) {
    await run(
      em,
      sql`insert into monthly_totals (merchant_id, month, completed_cents) values (${merchantId}, ${month}, 0)
        on conflict do nothing`,
    );
    await run(em, lock);
  }
  const row = await firstRow(
    em,
    sql<{ cents: string }>`
      select (t.completed_cents + coalesce((select sum(c.cents) from monthly_changes c
        where c.merchant_id = t.merchant_id and c.month = t.month), 0))::text as cents
      from monthly_totals t where t.merchant_id = ${merchantId} and t.month = ${month}`,
  );
  return BigInt(row?.cents ?? '0');
}

/**
 * The totals are locked in the order of their key before any change is taken:
 * a transaction that counts under a limit sees either all of it or none.
 */
const FOLD = sql<{ changes: number }>`with taken as (
    delete from monthly_changes where (deposit_id, sequence) in
      (select deposit_id, sequence from monthly_changes limit ${FOLD_BATCH} for update skip locked)
    returning merchant_id, month, cents
  ), added as (
    insert into monthly_totals as t (merchant_id, month, completed_cents)
    select merchant_id, month, sum(cents) from taken group by 1, 2 order by 1, 2
    on conflict (merchant_id, month) do update
      set completed_cents = t.completed_cents + excluded.completed_cents
  )
  select count(*)::int as changes from taken`;
