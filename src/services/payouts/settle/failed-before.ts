// What the payouts before say of the next one.
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf } from '../../../domain/assets.ts';
import { type Wait, waits } from '../../../domain/payouts/facts.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import { retriedAt } from '../pauses.ts';
import type { PayoutPlace } from '../plan.ts';

const FIRST_PAUSE_MS = 10 * 60_000;
const LONGEST_PAUSE_MS = 6 * 60 * 60_000;
const MOST_DOUBLED = 10;
const LONGEST_LOOK_MS = 10 * 60_000;
const CAREFUL_MS = 24 * 60 * 60_000;

/** Until when transfers of a chain are tried with care, by what this process has seen of it. */
const CAREFUL_UNTIL = new WeakMap<WatchedChain, number>();
type Failing = Pick<Deps, 'now'> & { readonly chain: WatchedChain };

/** Notes that a payout has failed on a chain: what one address has paid for, the others need not pay for. */
export function noteFailed({ chain, now }: Failing): void {
  CAREFUL_UNTIL.set(chain, now().getTime() + CAREFUL_MS);
}

/**
 * Whether a payout of this place has failed since one was settled; of a token also whether any one on the
 * chain has in a day: what a token takes is the word of endpoints, and what coins take is not.
 */
export async function hasFailedOfLate(em: Em, { chain, now }: Failing, place: PayoutPlace): Promise<boolean> {
  const isToken = assetOf(place.network, place.currency).kind === 'token';
  if (isToken && (CAREFUL_UNTIL.get(chain) ?? 0) > now().getTime()) return true;
  return await hasFailedHere(em, place);
}

/** Whether a payout of this place has failed since one was settled. */
export async function hasFailedHere(em: Em, place: PayoutPlace): Promise<boolean> {
  return (await failuresInARow(em, place)).count > 0;
}

/** How many payouts of an address and asset have failed since one was settled, and when the last one did. */
async function failuresInARow(
  em: Em,
  { network, addressKey, currency }: PayoutPlace,
): Promise<{ readonly count: number; readonly last: Date | null }> {
  const row = await firstRow(
    em,
    sql<{ count: number; last: string | null }>`
      select count(*)::int as count, max(p.state_since)::text as last from payouts p
      where p.network = ${network} and p.address_key = ${addressKey} and p.currency = ${currency}
        and p.state = 'failed' and not p.simulated and not exists (select 1 from payouts s
          where s.network = p.network and s.address_key = p.address_key and s.currency = p.currency
            and s.state = 'settled' and not s.simulated and s.state_since > p.state_since)`,
  );
  return { count: row?.count ?? 0, last: row?.last == null ? null : new Date(row.last) };
}

/**
 * Why no other payout is planned yet after those that failed one after the other: each may have burnt what it
 * was allowed to cost. The first one is tried again at once; from then on each pause is twice the one before,
 * unless a person wants it to be tried again.
 */
export async function pauseAfterFailures(
  em: Em,
  deps: Pick<Deps, 'now'>,
  place: PayoutPlace,
): Promise<Wait | undefined> {
  const { count, last } = await failuresInARow(em, place);
  if (count < 2 || last === null) return undefined;
  const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 2, MOST_DOUBLED));
  const pause = await pauseSince(em, deps, place, { last, pauseMs });
  return (
    pause &&
    waits(
      'failed_again',
      `${count} payouts of it have failed one after the other: see "payout list" for why; the next one is planned at ${pause.again}`,
      pause.delayMs,
    )
  );
}

/**
 * Why no other payout is planned yet after one that was settled: whoever pays small sums to an address of its
 * own again and again, each with what the one before brought, would use up the gas wallet of all.
 */
export async function pauseAfterPayout(
  em: Em,
  deps: Pick<Deps, 'now' | 'settings'>,
  place: PayoutPlace,
): Promise<Wait | undefined> {
  const { network, addressKey, currency } = place;
  const { everyMs: pauseMs = 0 } = deps.settings.payouts;
  const paid = await firstRow(
    em,
    sql<{ at: string }>`select settled_at as at from payouts where network = ${network} and not simulated
      and address_key = ${addressKey} and currency = ${currency} and state = 'settled'
      order by settled_at desc limit 1`,
  );
  const pause = paid && (await pauseSince(em, deps, place, { last: new Date(paid.at), pauseMs }));
  return (
    pause &&
    waits('paid_lately', `it was paid out once in SETTLE_EVERY; again at ${pause.again}`, pause.delayMs)
  );
}

async function pauseSince(
  em: Em,
  { now }: Pick<Deps, 'now'>,
  place: PayoutPlace,
  { last, pauseMs }: { readonly last: Date; readonly pauseMs: number },
): Promise<{ readonly again: string; readonly delayMs: number } | undefined> {
  const again = new Date(last.getTime() + pauseMs);
  const leftMs = again.getTime() - now().getTime();
  const retried = await retriedAt(em, place);
  if (leftMs <= 0 || (retried !== null && retried > last)) return undefined;
  return { again: again.toISOString(), delayMs: Math.min(leftMs, LONGEST_LOOK_MS) };
}
