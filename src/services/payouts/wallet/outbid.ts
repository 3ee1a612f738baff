import { type Payout, SentTransaction } from '../../../db/entities/index.ts';
import { assetOf } from '../../../domain/assets.ts';
import { coinsBeside } from '../settle/coins.ts';
import type { Assessing, Ready } from '../settle/outgoing.ts';
import { ANY_COINS } from '../settle/quoted.ts';
import { tooDear } from '../settle/too-dear.ts';

/**
 * The same transfer for a price that nodes take in the place of an earlier attempt; a payout of coins pays
 * the difference out of what it moves. A sentence where that price is more than is allowed, or more of coins
 * than SETTLE_MAX_FEE_PERCENT: the attempts that were signed are sent on meanwhile. Throws where no endpoint
 * answers.
 */
export async function outbid(deps: Assessing, payout: Payout, sentId: string): Promise<Ready | string> {
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
  if (quote.kind === 'refused') return quote.reason;
  if (!isCoin && freeUnits < quote.mostUnits) return 'the address has too few coins for a higher price';
  const dear = purpose === 'payout' && isCoin ? await tooDear(deps, payout, quote.mostUnits) : undefined;
  if (dear) return dear.reason;
  const units = quote.units < payout.grossUnits ? quote.units : payout.grossUnits;
  if (purpose === 'payout') return { does: 'pay_out', units, terms: quote.terms };
  const from = { address: fromAddress, addressKey: fromKey };
  return { does: 'top_up', from, units: amountUnits, terms: quote.terms };
}
