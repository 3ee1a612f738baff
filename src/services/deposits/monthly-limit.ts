import { LockMode } from '@mikro-orm/core';
import { type Deposit, Merchant } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';

/** The UTC month of detection, as the limit counts it: "2026-11". */
function monthOf(deposit: Deposit): string {
  return deposit.detectedAt.toISOString().slice(0, 7);
}

/**
 * Counts a live deposit into its merchant's month, inside the transaction that completes it. Returns false, with nothing counted, when
 * it would cross the limit; reaching it exactly is allowed. One conditional update decides, so of two at once exactly one crosses.
 */
export async function takeMonthlyLimit(em: Em, deposit: Deposit): Promise<boolean> {
  return await addToMonth(em, deposit, { enforce: true });
}

/** Counts a released deposit: an operator's decision is not refused by the limit. */
export async function countReleased(em: Em, deposit: Deposit): Promise<void> {
  await addToMonth(em, deposit, { enforce: false });
}

/** Gives a completed deposit's amount back to its month, when it fails after all. */
export async function giveBackMonthlyLimit(em: Em, deposit: Deposit): Promise<void> {
  if (deposit.mode !== 'live') return;
  const cents = deposit.amountUsdCents ?? 0n;
  await em.execute('update monthly_totals set completed_cents = completed_cents - ? where merchant_id = ? and month = ?', [
    ...[cents.toString(), deposit.merchantId, monthOf(deposit)],
  ]);
}

/**
 * A merchant without a limit has no row, so that its deposits never queue for one. The row is made from what was completed when the
 * first deposit under a limit needs it; a change of the limit removes it. The share lock on the merchant keeps the two apart: a limit
 * cannot appear between the look at it and the commit of a deposit that was not counted.
 */
async function addToMonth(em: Em, deposit: Deposit, options: { enforce: boolean }): Promise<boolean> {
  if (deposit.mode !== 'live') return true;
  const merchant = await em.findOneOrFail(Merchant, deposit.merchantId, { lockMode: LockMode.PESSIMISTIC_READ });
  if (merchant.monthlyLimitCents == null) return true;
  const month = monthOf(deposit);
  await em.execute(
    `insert into monthly_totals (merchant_id, month, completed_cents)
     select ?::uuid, ?, coalesce(sum(amount_usd_cents), 0) from deposits
     where merchant_id = ? and mode = 'live' and status in ('completed', 'settled') and to_char(detected_at at time zone 'UTC', 'YYYY-MM') = ?
     on conflict do nothing`,
    [deposit.merchantId, month, deposit.merchantId, month],
  );
  const cents = (deposit.amountUsdCents ?? 0n).toString();
  const limit = options.enforce ? merchant.monthlyLimitCents.toString() : null;
  const rows = await em.execute<unknown[]>(
    `update monthly_totals set completed_cents = completed_cents + ?::numeric
     where merchant_id = ? and month = ? and (?::numeric is null or completed_cents + ?::numeric <= ?::numeric) returning month`,
    [cents, deposit.merchantId, month, limit, cents, limit],
  );
  return rows.length === 1;
}

/** Forgets what was counted, inside the transaction that changes a merchant's limit; the next deposit under a limit counts anew. */
export async function forgetMonthlyTotals(em: Em, merchantId: string): Promise<void> {
  await em.execute('delete from monthly_totals where merchant_id = ?', [merchantId]);
}
