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

async function addToMonth(em: Em, deposit: Deposit, options: { enforce: boolean }): Promise<boolean> {
  if (deposit.mode !== 'live') return true;
  const cents = (deposit.amountUsdCents ?? 0n).toString();
  const merchant = await em.findOneOrFail(Merchant, deposit.merchantId);
  const limit = options.enforce && merchant.monthlyLimitCents != null ? merchant.monthlyLimitCents.toString() : null;
  await em.execute('insert into monthly_totals (merchant_id, month, completed_cents) values (?, ?, 0) on conflict do nothing', [
    ...[deposit.merchantId, monthOf(deposit)],
  ]);
  const rows = await em.execute<unknown[]>(
    `update monthly_totals set completed_cents = completed_cents + ?::numeric
     where merchant_id = ? and month = ? and (?::numeric is null or completed_cents + ?::numeric <= ?::numeric) returning month`,
    [cents, deposit.merchantId, monthOf(deposit), limit, cents, limit],
  );
  return rows.length === 1;
}
