import { type Payout, SettlementWait } from '../../../db/entities/index.ts';
import { firstRow, run, sql } from '../../../db/sql.ts';
import { alarms } from '../../../domain/payouts/waits.ts';
import { fitted } from '../../../domain/text.ts';
import type { Deps } from '../../deps.ts';
import type { Held, SettlementInput, SettlementStep } from './context.ts';

/** Of which payout something is said, or of which asset where nothing is planned. */
export type WaitPlace = Pick<Payout, 'merchantId' | 'address' | 'currency'> & { readonly id?: string | null };

/** What the column holds: a sentence ends with the next action, which must not be cut off. */
const MAX_WAIT_REASON = 500;

/**
 * The step of an address that waits, `said` being what its actor shows. Why it waits is written down, with
 * the time since which it does so for this reason.
 */
export async function waitStep(
  deps: Deps,
  input: SettlementInput,
  place: WaitPlace,
  held: Omit<Held, 'does'>,
  said: string,
): Promise<SettlementStep & { readonly kind: 'wait' }> {
  const stuck = await noteWait(deps, input, place, held);
  return { kind: 'wait', reason: said, delayMs: held.delayMs, stuck };
}

/** Returns whether it has waited long enough now for a person to be told, once. */
export async function noteWait(
  deps: Deps,
  { network, addressKey, alarmed }: SettlementInput,
  { merchantId, id: payoutId = null, address, currency }: WaitPlace,
  { code, reason, needs }: Omit<Held, 'does' | 'delayMs'>,
): Promise<boolean> {
  const now = deps.now();
  const text = fitted(reason, MAX_WAIT_REASON);
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ since: Date | string; alarmedAt: Date | string | null }>`
      insert into settlement_waits as w (network, address_key, merchant_id, payout_id, address, currency,
        code, reason, needs_units, needs_address, since, updated_at)
      values (${network}, ${addressKey}, ${merchantId}, ${payoutId}, ${address}, ${currency}, ${code},
        ${text},
        ${needs?.units.toString() ?? null}::numeric, ${needs?.address ?? null}, ${now}, ${now})
      on conflict (network, address_key) do update set merchant_id = excluded.merchant_id,
        payout_id = excluded.payout_id, address = excluded.address, currency = excluded.currency,
        code = excluded.code, reason = excluded.reason, needs_units = excluded.needs_units,
        needs_address = excluded.needs_address, updated_at = excluded.updated_at,
        since = case when w.code = excluded.code then w.since else excluded.since end,
        alarmed_at = case when w.code = excluded.code then w.alarmed_at end
      returning since, alarmed_at`,
  );
  const since = row ? new Date(row.since) : now;
  if (!alarms(code, now.getTime() - since.getTime(), deps.settings.stuckAfterMs)) return false;
  if (row?.alarmedAt == null)
    await run(
      deps.orm.em.fork(),
      sql`update settlement_waits set alarmed_at = coalesce(alarmed_at, ${now}) where network = ${network}
        and address_key = ${addressKey}`,
    );
  return !alarmed;
}

/** Forgets why an address waited: it goes on, or has nothing to pay out. */
export async function endWait(deps: Deps, { network, addressKey }: SettlementInput): Promise<void> {
  await deps.orm.em.fork().nativeDelete(SettlementWait, { network, addressKey });
}
