// What the payouts before say of the next one.
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { assetOf, type Network } from '../../../domain/assets.ts';
import { backOffMs, LONGEST_LOOK_MS, type Wait, waits } from '../../../domain/payouts/facts.ts';
import type { Deps } from '../../deps.ts';
import { retriedAt } from '../decisions.ts';
import type { PayoutPlace } from '../plan.ts';
import type { Assessing } from './context.ts';

const CAREFUL_MS = 24 * 60 * 60_000;

type Failing = Pick<Assessing, 'now' | 'memory'>;

/** Notes that a payout has failed on a chain: what one address has paid for, the others need not pay for. */
export function noteFailed({ memory, now }: Failing, network: Network): void {
  memory.carefulUntil.set(network, now().getTime() + CAREFUL_MS);
}

/**
 * Whether a payout of this place has failed since one was settled; of a token also whether any one on the
 * chain has in a day: what a token takes is the word of endpoints, and what coins take is not.
 */
export async function hasFailedOfLate(
  em: Em,
  { memory, now }: Failing,
  place: PayoutPlace,
): Promise<boolean> {
  const isToken = assetOf(place.network, place.currency).kind === 'token';
  if (isToken && (memory.carefulUntil.get(place.network) ?? 0) > now().getTime()) return true;
  return await hasFailedHere(em, place);
}

/** Whether a payout of this place has failed since one was settled. */
export async function hasFailedHere(em: Em, place: PayoutPlace): Promise<boolean> {
  return (await payoutsBefore(em, place)).failed > 0;
}

type Before = { readonly failed: number; readonly failedAt: Date | null; readonly paidAt: Date | null };

/** How many payouts of an address and asset have failed since one was settled, and when the last of each. */
async function payoutsBefore(em: Em, { network, addressKey, currency }: PayoutPlace): Promise<Before> {
  const row = await firstRow(
    em,
    sql<{ failed: number; failedAt: string | null; paidAt: string | null }>`
      with ended as (select state, state_since from payouts where network = ${network}
        and address_key = ${addressKey} and currency = ${currency} and not simulated
        and state in ('settled', 'failed')),
      paid as (select max(state_since) as at from ended where state = 'settled')
      select count(e)::int as failed, max(e.state_since)::text as failed_at, paid.at::text as paid_at
      from paid left join ended e on e.state = 'failed' and (paid.at is null or e.state_since >= paid.at)
      group by paid.at`,
  );
  const dateOf = (text: string | null = null): Date | null => (text === null ? null : new Date(text));
  return { failed: row?.failed ?? 0, failedAt: dateOf(row?.failedAt), paidAt: dateOf(row?.paidAt) };
}

/**
 * Why no other payout is planned yet, unless a person wants it to be tried again. After those that failed one
 * after the other, each of which may have burnt what it was allowed to cost, the first one is tried again at
 * once, and from then on each pause is twice the one before. After one that was settled, SETTLE_EVERY: who
 * pays the same small sum to an address of its own again and again would use up the gas wallet of all.
 */
export async function pauseAfterLast(
  em: Em,
  deps: Pick<Deps, 'now' | 'settings'>,
  place: PayoutPlace,
  { isLarge }: { readonly isLarge: boolean },
): Promise<Wait | undefined> {
  const { failed, failedAt, paidAt } = await payoutsBefore(em, place);
  const hasFailed = failed >= 2;
  const last = hasFailed ? failedAt : paidAt;
  if (last === null || (!hasFailed && isLarge)) return undefined;
  const pauseMs = hasFailed ? backOffMs(failed - 2) : (deps.settings.payouts.everyMs ?? 0);
  const again = new Date(last.getTime() + pauseMs);
  const leftMs = again.getTime() - deps.now().getTime();
  const retried = await retriedAt(em, place);
  if (leftMs <= 0 || (retried !== null && retried > last)) return undefined;
  const why = hasFailed
    ? `${failed} payouts of it have failed one after the other: see "payout list" for why;`
    : 'it is paid out once in SETTLE_EVERY, unless it is a hundred times SETTLE_MIN:';
  return waits(
    hasFailed ? 'failed_again' : 'paid_lately',
    `${why} the next one is planned at ${again.toISOString()}`,
    Math.min(leftMs, LONGEST_LOOK_MS),
  );
}
