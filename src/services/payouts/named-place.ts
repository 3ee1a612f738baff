import { CHAINS } from '../../chains/index.ts';
import { DepositAddress, Payout } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { isUuid } from '../../domain/ids.ts';
import { Refusal } from '../refusal.ts';
import type { SettlementPlace } from './actor-message.ts';
import { noPayout } from './list.ts';

/** The address of a payout, or one that was named itself: then `payout` is null. */
export type NamedPlace = SettlementPlace & { readonly payout: Payout | null };

/**
 * The place of a payout by its id, or an address of ours in live mode. Throws a `Refusal` for all else, and
 * for a payout of test mode.
 */
export async function namedPlace(em: Em, given: string): Promise<NamedPlace> {
  const id = given.toLowerCase();
  const payout = isUuid(id) ? await em.findOne(Payout, { id }) : null;
  if (payout?.simulated)
    throw new Refusal(
      'INVALID',
      `Payout ${payout.id} is one of test mode, which moves no money. Look at it with "payout show ${payout.id}".`,
    );
  if (payout) return { ...placeOf(payout), payout };
  for (const { network, addresses } of CHAINS) {
    const addressKey = addresses.parse(given);
    const row = addressKey && (await em.findOne(DepositAddress, { network, addressKey, mode: 'live' }));
    if (row) return { ...placeOf(row), payout };
  }
  throw noPayout(given);
}

const placeOf = ({ network, addressKey, address, merchantId }: SettlementPlace): SettlementPlace => ({
  network,
  addressKey,
  address,
  merchantId,
});
