import { type Payout, SentTransaction } from '../../../db/entities/index.ts';
import { assetOf } from '../../../domain/assets.ts';
import { waits } from '../../../domain/payouts/facts.ts';
import { coinsBeside } from './coins.ts';
import type { Assessing, Held, Ready } from './outgoing.ts';
import { ANY_COINS } from './quoted.ts';
import { tooDear } from './too-dear.ts';

const AGAIN_MS = 30_000;

/**
 * The same transfer for a price that nodes take in the place of an earlier attempt; a payout of coins pays
 * the difference out of what it moves. A wait where that price is more than is allowed, or more of coins than
 * SETTLE_MAX_FEE_PERCENT: the attempts that were signed are sent on meanwhile. Throws where no endpoint
 * answers.
 */
export async function outbid(deps: Assessing, payout: Payout, sentId: string): Promise<Ready | Held> {
  const em = deps.orm.em.fork();
  const before = await em.findOneOrFail(SentTransaction, sentId);
  const { purpose, fromKey, fromAddress, toKey, amountUnits, terms } = before;
  if (!deps.chain.spending || toKey == null || amountUnits == null)
    throw new Error(`${sentId} cannot be outbid`);
  const isCoin = purpose === 'gas' || assetOf(payout.network, payout.currency).kind === 'native';
  const { freeUnits, reserveUnits } = await coinsBeside(em, payout);
  const quote = await deps.chain.spending.quote(
    {
      from: fromKey,
      to: toKey,
      kind: isCoin ? 'native' : 'token',
      units: purpose === 'payout' ? payout.grossUnits + (isCoin ? reserveUnits : 0n) : ANY_COINS,
    },
    { above: terms as Readonly<Record<string, string | number>> },
    deps.signal,
  );
  // Of one code with the wait until it is sent again: taking turns, two of them would never last long enough.
  const keeps = (why: string): Held =>
    waits('on_its_way', `no block has its transaction yet, and it cannot be replaced: ${why}`, AGAIN_MS);
  if (quote.kind === 'refused') return keeps(quote.reason);
  if (!isCoin && freeUnits < quote.mostUnits)
    return keeps('the address has too few coins for a higher price');
  const dear = purpose === 'payout' && isCoin ? await tooDear(deps, payout, quote.mostUnits) : undefined;
  if (dear) return keeps(dear.reason);
  const units = quote.units < payout.grossUnits ? quote.units : payout.grossUnits;
  if (purpose === 'payout') return { does: 'pay_out', units, terms: quote.terms };
  const from = { address: fromAddress, addressKey: fromKey };
  return { does: 'top_up', from, units: amountUnits, terms: quote.terms };
}
