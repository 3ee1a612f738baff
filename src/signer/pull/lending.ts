// What a stake of the gas wallet gives, lent to an address for one payout, and taken back when that is over.
// No money moves; but whoever could ask for it at will would take away what other payouts are planned with.
import { addressKeyOf } from '../../chains/addresses.ts';
import { assetOf, NATIVE_CURRENCY } from '../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Bench, Order } from './bench.ts';
import { orderOf } from './earlier.ts';
import type { Facts } from './facts.ts';
import { requireGoing } from './pauses.ts';
import { givenUp, NotSigned } from './refusal.ts';

export const GAS_WALLET = { account: 'gas', index: 0 } as const;

/**
 * Lends an address what its payout of a token takes, once for a payout. The payout, its deposits and its
 * destination were looked at before. Throws {@link NotSigned}.
 */
export function lend(bench: Bench, facts: Facts): Order {
  const { payout: row } = facts;
  if (assetOf(row.network, row.currency).kind === 'native')
    throw givenUp('a payout of the coin runs no contract, and is lent nothing');
  requireFromGasWallet(bench, facts, 'energy is lent');
  return loan(bench, facts, 'delegate');
}

/**
 * Takes back what the journal has lent an address for a payout, to the unit, when that is over. Throws
 * {@link NotSigned}.
 */
export function takeBack(bench: Bench, facts: Facts): Order {
  const { asked, payout: row } = facts;
  if (row.network !== asked.network) throw givenUp('the payout is on another chain than what was asked for');
  if (LIVING_PAYOUTS.includes(row.state as (typeof LIVING_PAYOUTS)[number]))
    throw givenUp(`the payout is ${row.state}, and takes what it was lent`);
  requireFromGasWallet(bench, facts, 'energy is taken back');
  const lent = bench.index
    .given(asked.network, asked.toKey)
    .filter(({ purpose, from }) => purpose === 'delegate' && from === asked.fromKey);
  if (!lent.some(({ amount }) => amount === asked.amountUnits))
    throw givenUp('the journal has lent the address no such part of the stake');
  requireUndisturbed(bench, facts);
  return loan(bench, facts, 'reclaim');
}

function loan(bench: Bench, facts: Facts, kind: 'delegate' | 'reclaim'): Order {
  const { asked } = facts;
  if (!bench.transfers.lends) throw givenUp(`nothing can be lent on ${asked.network}`);
  if (asked.amountUnits <= 0n)
    throw new NotSigned('terms', 'it would lend nothing: it is given up by itself');
  return orderOf(bench, facts, kind, GAS_WALLET);
}

/** `what` is what goes from there, with its verb. Throws {@link NotSigned}. */
export function requireFromGasWallet({ wallet }: Bench, { asked, payout: row }: Facts, what: string): void {
  const gas = addressKeyOf(row.network, wallet.publicParts.gas[row.network]);
  if (
    asked.fromKey === gas &&
    asked.toKey === row.addressKey &&
    asked.currency === NATIVE_CURRENCY[row.network]
  )
    return;
  throw givenUp(`${what} from the gas wallet to the address of its payout, in the coin`);
}

/** Throws {@link NotSigned} while somebody else uses the wallet, and while payouts are paused. */
export function requireUndisturbed(bench: Bench, { foreignHash, payout }: Facts): void {
  if (foreignHash !== null)
    throw new NotSigned(
      'wallet',
      `the wallet sent ${foreignHash}, which nobody signed here: see "deposit stuck", and decide with "payout accept" or "payout deny"`,
    );
  requireGoing(bench.index, payout.merchantId, bench);
}
