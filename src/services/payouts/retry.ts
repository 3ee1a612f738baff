import type { Em } from '../../db/orm.ts';
import { firstRow, literals, sql } from '../../db/sql.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { insertOutbox } from '../outbox/insert.ts';
import { Refusal } from '../refusal.ts';
import { type SettlementPlace, settlementWake } from './actor-message.ts';
import { writeDecision } from './decisions.ts';
import { type NamedPlace, namedPlace } from './named-place.ts';

/**
 * Writes down that a person wants an address to be looked at again now, and tells its actor, in one
 * transaction: by the id of a payout, or by an address of ours where nothing is planned. What the signer has
 * refused for good is asked for anew at once. Throws a `Refusal` where there is nothing to look at.
 */
export async function retryPayout(
  deps: Deps,
  { id, reason }: { readonly id: string; readonly reason: string | null },
): Promise<SettlementPlace & { readonly byName: string }> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const place = await namedPlace(em, id);
    await requireWaiting(em, place);
    const { merchantId, network, addressKey, address } = place;
    const byName = await writeDecision(em, deps, {
      kind: 'retry',
      merchantId,
      place: { network, addressKey },
      reason,
    });
    await recordAction(em, deps, {
      action: 'payout.retry',
      merchantId,
      subject: id,
      after: { network, address },
      reason,
    });
    const [workflowId, message] = settlementWake(place);
    await insertOutbox(em, deps, [{ workflowId, message }]);
    return { merchantId, network, addressKey, address, byName };
  });
}

/** Throws a `Refusal` where nothing waits; what a payout was lent is taken back after it was settled, too. */
async function requireWaiting(em: Em, { payout, network, addressKey, address }: NamedPlace): Promise<void> {
  const about = payout
    ? sql`select 1 where ${payout.state} <> 'settled'
        union all select 1 from settlement_waits where payout_id = ${payout.id}::uuid`
    : sql`select 1 from settlement_waits where network = ${network} and address_key = ${addressKey}
        union all select 1 from payouts where network = ${network} and address_key = ${addressKey}
          and not simulated and state in ${literals(LIVING_PAYOUTS)}`;
  if (await firstRow(em, about)) return;
  throw new Refusal(
    'INVALID',
    payout
      ? `Payout ${payout.id} is settled, so there is nothing to try again. Look at it with "payout show ${payout.id}".`
      : `Nothing waits at ${address} to be paid out. If something was completed there, run "repair".`,
  );
}
