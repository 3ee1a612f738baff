// What makes room at an address for what was signed there before, or paid, and which deposits that has paid.
import { LockMode } from '@mikro-orm/core';
import { Refused } from '../../../base/errors.ts';
import { Deposit } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, sql } from '../../../db/sql.ts';
import type { Currency } from '../../../domain/assets.ts';
import type { SentFacts } from '../../../domain/payouts/facts.ts';
import type { TxDeps } from '../../deps.ts';
import { lockPayers } from '../../payment-links/money.ts';
import { cancelPayout, payableAt } from '../plan.ts';
import { endOthers, giveUp, livingPayout, sentFor } from '../settle/living.ts';
import type { SettlementPlace } from '../wakes.ts';

/**
 * What is planned at the address, and not signed, makes room: its deposits may be those that were paid.
 * Throws {@link NotConcluded} while something that is signed for it may land.
 */
export async function endPlanned(em: Em, deps: TxDeps, place: SettlementPlace, hash: string): Promise<void> {
  await lockCustomers(em, place);
  const living = await livingPayout(em, place);
  if (!living) return;
  if (living.state === 'planned') await giveUpAsked(em, deps, living.id);
  // What is signed for it and in no final block is sent, and replaced, for as long as it lives.
  const isOpen = ({ signedAt, purpose, state }: SentFacts): boolean =>
    signedAt !== null && state !== 'dead' && (purpose === 'payout' || state !== 'final');
  if (living.state !== 'planned' || (await sentFor(em, place.network, living.id)).some(isOpen))
    throw new NotConcluded(
      `another payout of this address (${living.id}) is on its way: wait until it has ended, then run this again`,
    );
  await endOthers(em, deps, living.id);
  await cancelPayout(em, deps, living.id, `its deposits may be those that ${hash} has paid`);
}

/**
 * Gives up what is asked for a payout. Throws {@link NotConcluded} where it is not refused, and may be in the
 * journal already: the signer answers first.
 */
export async function giveUpAsked(em: Em, deps: TxDeps, payoutId: string): Promise<void> {
  // Waits for the signer, who may look at one of them just now.
  const asked = await rows(
    em,
    sql<{ id: string; refused: string | null }>`select id, refused from sent_transactions
      where payout_id = ${payoutId} and state = 'asked' order by id for update`,
  );
  for (const { id, refused } of asked)
    if (refused === null || !(await giveUp(em, deps, id)))
      throw new NotConcluded(
        'the signer is asked to sign something for this address: see that it runs, and run this again in a moment',
      );
}

/** Customers' locks come before those of deposits. */
async function lockCustomers(em: Em, { network, addressKey }: SettlementPlace): Promise<void> {
  const found = await rows(
    em,
    sql<{ customerId: string }>`select customer_id from deposit_addresses
      where network = ${network} and address_key = ${addressKey}`,
  );
  await lockPayers(
    em,
    found.map(({ customerId }) => customerId),
  );
}

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
      ...payableAt({ network, addressKey, currency }),
      merchantId,
      payoutId: null,
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

/** Why something is not concluded. Nothing was changed; the message ends with the next action. */
export class NotConcluded extends Refused {
  override readonly name = 'NotConcluded';
}
