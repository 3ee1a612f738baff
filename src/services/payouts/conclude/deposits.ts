// Which deposits a transaction has paid, where no row says it any more.
import { LockMode } from '@mikro-orm/core';
import { Deposit } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import type { Currency } from '../../../domain/assets.ts';
import type { SettlementPlace } from '../actor-message.ts';
import { NotConcluded } from './refusal.ts';

/** What the deposits have to sum to, in base units. */
export type Wanted = { readonly leastUnits: bigint; readonly isRight: (sumUnits: bigint) => boolean };

type Which = {
  readonly place: SettlementPlace;
  readonly currency: Currency;
  readonly hash: string;
  /** The block of the transaction: what came later was not paid by it. */
  readonly blockNumber: number;
  /** Named by whoever knows; undefined where they are to be found by their sum. */
  readonly ids: readonly string[] | undefined;
};

/**
 * The deposits of a place that a transaction has paid, locked: completed, read twice, unpaid, and not above
 * its block. By their sum those that came one after the other, as payouts cover them. Throws
 * {@link NotConcluded} where none sum to what left.
 */
export async function paidBy(em: Em, which: Which, wanted: Wanted): Promise<Deposit[]> {
  const { place, currency, blockNumber, ids, hash } = which;
  const { network, addressKey, merchantId } = place;
  const found = await em.find(
    Deposit,
    {
      network,
      addressKey,
      merchantId,
      currency,
      mode: 'live',
      simulated: false,
      status: 'completed',
      payoutId: null,
      blockHash: { $ne: null },
      verifiedAt: { $ne: null },
      blockNumber: { $lte: blockNumber },
    },
    { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  const inOrder = found.toSorted(
    (a, b) => a.blockNumber - b.blockNumber || a.createdAt.getTime() - b.createdAt.getTime(),
  );
  const named = ids && inOrder.filter(({ id }) => ids.includes(id));
  const chosen = named ? (isAll(named, ids, wanted) ? named : undefined) : run(inOrder, wanted);
  if (chosen) return chosen;
  throw new NotConcluded(
    `no completed deposits of ${place.address} that are unpaid and older than ${hash} sum to what left with it: wait until the blocks of their time are read ("deposit list --address ${place.address}"), or name those that it paid with --deposits`,
  );
}

const sumOf = (some: readonly Deposit[]): bigint => some.reduce((sum, one) => sum + one.amountUnits, 0n);

const isAll = (named: readonly Deposit[], ids: readonly string[], { isRight }: Wanted): boolean =>
  named.length === new Set(ids).size && isRight(sumOf(named));

/** The smallest right sum of deposits that follow one on the other. */
function run(deposits: readonly Deposit[], { leastUnits, isRight }: Wanted): Deposit[] | undefined {
  let best: Deposit[] | undefined;
  for (let [from, to, sum] = [0, 0, 0n]; from < deposits.length; from += 1) {
    while (to < deposits.length && sum < leastUnits) {
      sum += deposits[to]?.amountUnits ?? 0n;
      to += 1;
    }
    if (sum < leastUnits) break;
    const some = deposits.slice(from, to);
    if (isRight(sum) && (!best || sum < sumOf(best))) best = some;
    sum -= deposits[from]?.amountUnits ?? 0n;
  }
  return best;
}
