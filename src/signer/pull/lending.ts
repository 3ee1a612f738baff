// What a stake of the gas wallet gives, lent to an address for one payout, and taken back when that is over.
// No money moves; but whoever could ask for it at will would take away what other payouts are planned with.
import { addressKeyOf } from '../../chains/addresses.ts';
import { assetOf, NATIVE_CURRENCY } from '../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { type Bench, type Order, termsOf } from './bench.ts';
import { placeOfTransfer } from './earlier.ts';
import type { Facts } from './facts.ts';
import { requireGoing } from './pauses.ts';
import { NotSigned } from './refusal.ts';

const GAS_WALLET = { account: 'gas', index: 0 } as const;

/**
 * Lends an address what its payout of a token takes, once for a payout. The payout, its deposits and its
 * destination were looked at before. Throws {@link NotSigned}.
 */
export function lend(bench: Bench, facts: Facts): Order {
  const { payout: row } = facts;
  if (assetOf(row.network, row.currency).kind === 'native')
    throw new NotSigned(
      'payout',
      'a payout of the coin runs no contract, and is lent nothing: it is given up by itself',
    );
  requireFromGasWallet(bench, facts, 'energy is lent');
  return orderOf(bench, facts, 'delegate');
}

/**
 * Takes back what the journal has lent an address for a payout, to the unit, when that is over. Throws
 * {@link NotSigned}.
 */
export function takeBack(bench: Bench, facts: Facts): Order {
  const { asked, payout: row } = facts;
  if (row.network !== asked.network)
    throw new NotSigned(
      'payout',
      'the payout is on another chain than what was asked for: it is given up by itself',
    );
  if (LIVING_PAYOUTS.includes(row.state as (typeof LIVING_PAYOUTS)[number]))
    throw new NotSigned(
      'payout',
      `the payout is ${row.state}, and takes what it was lent: it is given up by itself`,
    );
  requireFromGasWallet(bench, facts, 'energy is taken back');
  const lent = bench.index
    .lentTo(asked.network, asked.toKey)
    .some(({ from, amount }) => from === asked.fromKey && amount === asked.amountUnits);
  if (!lent)
    throw new NotSigned(
      'payout',
      'the journal has lent the address no such part of the stake: it is given up by itself',
    );
  requireUndisturbed(bench, facts);
  return orderOf(bench, facts, 'reclaim');
}

function orderOf(bench: Bench, facts: Facts, kind: 'delegate' | 'reclaim'): Order {
  const { asked } = facts;
  if (!bench.transfers.lends)
    throw new NotSigned('payout', `nothing can be lent on ${asked.network}: it is given up by itself`);
  if (asked.amountUnits <= 0n)
    throw new NotSigned('terms', 'it would lend nothing: it is given up by itself');
  const terms = termsOf(bench, facts, kind);
  const nonce = placeOfTransfer(bench, facts, terms);
  const { fromKey: from, toKey: to, amountUnits: units } = asked;
  return { transfer: { from, to, kind, units, nonce }, terms, sender: GAS_WALLET, depositIds: [] };
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
  throw new NotSigned(
    'payout',
    `${what} from the gas wallet to the address of its payout, in the coin: it is given up by itself`,
  );
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
