import type { Random } from '../../../dev/random.ts';
import { type ChainPlan, chainRandom, PLANNED } from './networks.ts';
import type { PayoutAction } from './plan.ts';

type At<T> = T & { readonly atMs: number };

const UNPAID_PER_MINUTE = 2;
/** By then the wallets for gas have run empty; what waits for them has to go on by itself after it. */
const REFILL_AT = 0.5;
const REDIRECT_AT = 0.4;
/** The first payouts are in blocks by then. */
const UNPAY_FROM = 0.2;

/** What befalls payouts alone: blocks that lose them, empty wallets, and a merchant who moves. */
export function planPayoutTroubles(random: Random, minutes: number, lastsMs: number): At<PayoutAction>[] {
  const ofChains = PLANNED.filter(({ paysOut }) => paysOut).flatMap((chain) => planOf(chain, random));
  return [{ kind: 'redirect', merchant: 'B', atMs: Math.round(lastsMs * REDIRECT_AT) }, ...ofChains];

  function planOf(chain: ChainPlan, draws: Random): At<PayoutAction>[] {
    const { network, share } = chain;
    const own = chainRandom(draws, network).fork('payouts');
    const count = Math.max(3, Math.round(minutes * UNPAID_PER_MINUTE * share));
    return [
      { kind: 'refill', network, atMs: Math.round(lastsMs * REFILL_AT) },
      ...Array.from({ length: count }, () => ({
        kind: 'unpay' as const,
        network,
        atMs: own.int(Math.round(lastsMs * UNPAY_FROM), Math.max(1_000, lastsMs - 5_000)),
      })),
    ];
  }
}
