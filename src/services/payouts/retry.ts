import type { AddressKey } from '../../chains/address-key.ts';
import { CHAINS } from '../../chains/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, literals, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { isUuid } from '../../domain/ids.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { insertOutbox } from '../outbox/insert.ts';
import { Refusal } from '../refusal.ts';
import { type SettlementPlace, settlementWake } from './actor-message.ts';
import { writeDecision } from './decisions.ts';
import { noPayout } from './list.ts';

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
    const place = (await placeOfPayout(em, id.toLowerCase())) ?? (await placeOfAddress(em, id));
    if (!place) throw noPayout(id);
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
    return { ...place, byName };
  });
}

async function placeOfPayout(em: Em, id: string): Promise<SettlementPlace | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await firstRow(
    em,
    sql<SettlementPlace & { state: string; simulated: boolean; waits: boolean }>`select network, address_key,
      address, merchant_id, state, simulated, exists (select 1 from settlement_waits w
        where w.payout_id = payouts.id) as waits from payouts where id = ${id}::uuid`,
  );
  if (!row) return undefined;
  if (row.simulated)
    throw new Refusal(
      'INVALID',
      `Payout ${id} is one of test mode, which moves no money. Look at it with "payout show ${id}".`,
    );
  // What it was lent is taken back after it is settled, and may wait for a person.
  if (row.state === 'settled' && !row.waits)
    throw new Refusal(
      'INVALID',
      `Payout ${id} is settled, so there is nothing to try again. Look at it with "payout show ${id}".`,
    );
  return row;
}

async function placeOfAddress(em: Em, text: string): Promise<SettlementPlace | undefined> {
  for (const { network, addresses } of CHAINS) {
    const addressKey: AddressKey | undefined = addresses.parse(text);
    const row = addressKey && (await placeOfKey(em, network, addressKey));
    if (row) return row;
  }
  return undefined;
}

async function placeOfKey(
  em: Em,
  network: Network,
  addressKey: AddressKey,
): Promise<SettlementPlace | undefined> {
  const found = await firstRow(
    em,
    sql<SettlementPlace & { waits: boolean }>`
      select a.network, a.address_key, a.address, a.merchant_id, exists (select 1 from settlement_waits w
          where w.network = a.network and w.address_key = a.address_key) or exists (select 1 from payouts p
          where p.network = a.network and p.address_key = a.address_key and not p.simulated
            and p.state in ${literals(LIVING_PAYOUTS)}) as waits
      from deposit_addresses a
      where a.network = ${network} and a.address_key = ${addressKey} and a.mode = 'live'`,
  );
  if (found && !found.waits)
    throw new Refusal(
      'INVALID',
      `Nothing waits at ${found.address} to be paid out. If something was completed there, run "repair".`,
    );
  return found;
}
