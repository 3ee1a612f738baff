// What may be signed: every check of one row, over facts that were read under a lock. Nothing is believed
// because somebody wrote it into the row.
import { type AddressKey, keyOfHex } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import type { DepositState } from '../../domain/deposit.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import { type Bench, type Order, termsOf } from './bench.ts';
import { provenAt, provenDestination } from './directions.ts';
import { isLost, orderOf, replaced, requireUnpaid } from './earlier.ts';
import type { DepositFacts, Facts } from './facts.ts';
import { type Moved, requireRoom, sumOf } from './limits.ts';
import { requireGoing } from './pauses.ts';
import { givenUp, NotSigned } from './refusal.ts';

/** What an address is given without paying anything out, in transfers at their dearest. */
const MOST_GIVEN = 2n;
const GAS_WALLET = { account: 'gas', index: 0 } as const;
const COMPLETED: DepositState = 'completed';

/**
 * The same transfer in the place of one that the journal holds, for a higher price; undefined where a row
 * asks for something else. What is signed may land at any time, so this gives nobody anything, and all that
 * stands behind it in the wallet's order waits for it: it is held to what it may cost and to the transfer
 * before it, and to nothing that is said of its payout, its destination or a limit. Throws {@link NotSigned}.
 */
export function replacement(bench: Bench, facts: Facts): Order | undefined {
  const { network, purpose, fromKey, toKey, currency, amountUnits } = facts.asked;
  if (!bench.transfers.hasNonce) return undefined;
  const open = replaced(bench.index, facts);
  if (open?.network !== network || open.from !== fromKey || open.to !== toKey) return undefined;
  // A payout of coins pays the difference of the price out of what it moves.
  const isCoins = purpose === 'payout' && currency === NATIVE_CURRENCY[network];
  const most = isCoins ? termsOf(bench, facts, 'native').mostUnits : 0n;
  if (amountUnits > open.amount + most || amountUnits < open.amount - most) return undefined;
  if (purpose === 'gas') return topUp(bench, facts);
  return { ...payout(bench, facts, open.to, requireOwner(bench, facts)), depositIds: open.deposits };
}

/**
 * The transfer that a row asks for, when everything about it is right. Throws {@link NotSigned} for the first
 * thing that is not, and `Sealed` where a row was written by somebody without the key.
 */
export function decide(bench: Bench, facts: Facts): Order {
  if (facts.asked.purpose === 'reclaim') return takeBack(bench, facts);
  requirePayout(facts);
  const index = requireOwner(bench, facts);
  requireDeposits(bench, facts);
  const destination = provenDestination(bench, facts);
  requireUnpaid(bench, facts);
  requireUndisturbed(bench, facts);
  const order = orderFor(bench, facts, destination, index);
  if (facts.asked.purpose === 'gas') requireSpent(bench, facts, order);
  requireRoom(bench.limits, bench.index, movedBy(facts), order.transfer.nonce, bench.now);
  return order;
}

/**
 * What a row moves. A loan moves nothing itself: but a transfer that waits for room, for hours, would keep
 * the part of the stake that it was lent.
 */
function movedBy({ asked, payout: row }: Facts): Moved {
  const { merchantId } = row;
  if (asked.purpose !== 'delegate') return { ...asked, merchantId };
  const { currency, grossUnits: amountUnits } = row;
  return { ...asked, merchantId, purpose: 'payout', currency, amountUnits };
}

function orderFor(bench: Bench, facts: Facts, destination: AddressKey, index: number): Order {
  const { purpose } = facts.asked;
  if (purpose === 'payout') return payout(bench, facts, destination, index);
  return purpose === 'gas' ? topUp(bench, facts) : lend(bench, facts);
}

function requirePayout({ payout, asked }: Facts): void {
  const { mode, simulated, state, network } = payout;
  if (mode !== 'live' || simulated) throw givenUp('the payout is one of test mode, which moves no money');
  const may = asked.purpose !== 'payout' || asked.attempt === 1 ? ['planned'] : LIVING_PAYOUTS;
  if (!may.includes(state as (typeof LIVING_PAYOUTS)[number]))
    throw new NotSigned(
      'payout',
      `the payout is ${state}: nothing is signed for it any more, and what was asked for is given up by itself`,
    );
  if (network !== asked.network) throw givenUp('the payout is on another chain than what was asked for');
}

/** Returns the index of the address below the wallet's account. */
function requireOwner(bench: Bench, { owner, payout }: Facts): number {
  if (!owner)
    throw new NotSigned(
      'payout',
      'no customer has the address that the payout takes from: find out who wrote the payout',
    );
  const { address: _, seal, ...row } = owner;
  provenAt(bench, { kind: 'address', ...row }, seal);
  if (owner.mode !== 'live' || owner.merchantId !== payout.merchantId)
    throw new NotSigned(
      'payout',
      'the address belongs to another merchant or to test mode: find out who wrote the payout',
    );
  const derived = bench.wallet.depositAddress(owner.network, 'live', owner.walletIndex);
  const key = addressKeyOf(owner.network, derived);
  if (key !== owner.addressKey || key !== payout.addressKey || derived !== owner.address)
    throw new NotSigned(
      'wallet',
      `${owner.address} is not the address at its place of this wallet: open the wallet that it was made from`,
    );
  return owner.walletIndex;
}

function requireDeposits({ transfers }: Bench, { payout, deposits }: Facts): void {
  if (deposits.length === 0) throw givenUp('the payout covers no deposit');
  const token = assetOf(payout.network, payout.currency).kind === 'token' ? transfers.token : null;
  const isPayable = (deposit: DepositFacts): boolean =>
    deposit.merchantId === payout.merchantId &&
    deposit.mode === 'live' &&
    !deposit.simulated &&
    deposit.network === payout.network &&
    deposit.currency === payout.currency &&
    deposit.addressKey === payout.addressKey &&
    contractKey(payout.network, deposit.contractAddress) === token &&
    deposit.status === COMPLETED &&
    deposit.blockHash !== null &&
    deposit.verifiedAt !== null;
  const wrong = deposits.find((deposit) => !isPayable(deposit));
  if (wrong)
    throw new NotSigned(
      'payout',
      `deposit ${wrong.id} is not one that this payout may pay out (live, completed, read twice, of this address, merchant and asset): the payout is given up by itself, and planned again without it`,
    );
  if (contractKey(payout.network, payout.contractAddress) !== token)
    throw givenUp('the payout names another token than the configured one');
  const sum = deposits.reduce((total, { amountUnits }) => total + amountUnits, 0n);
  if (sum !== payout.grossUnits)
    throw givenUp(`the payout is ${payout.grossUnits} units, and its deposits are ${sum}`);
}

/** The key of a contract's address as a row spells it; undefined for what is no address. */
function contractKey(network: Network, contract: string | null): AddressKey | null | undefined {
  if (contract === null) return null;
  try {
    return addressKeyOf(network, contract);
  } catch {
    return /^(0x)?[0-9a-fA-F]{40}$/.test(contract) ? keyOfHex(contract.slice(-40)) : undefined;
  }
}

function payout(bench: Bench, facts: Facts, destination: AddressKey, index: number): Order {
  const { asked, payout: row } = facts;
  const { kind } = assetOf(row.network, row.currency);
  if (asked.fromKey !== row.addressKey || asked.currency !== row.currency)
    throw givenUp('what was asked for is not the transfer of its payout');
  if (asked.toKey !== destination)
    throw new NotSigned(
      'destination',
      'what was asked for goes elsewhere than to the withdraw address of the merchant: find out who wrote the row',
    );
  const kept = row.grossUnits - asked.amountUnits;
  // Less than its fee may cost where an earlier one has kept back too much.
  const most = kind === 'native' ? termsOf(bench, facts, kind).mostUnits : 0n;
  if (asked.amountUnits <= 0n || kept < 0n || kept > most)
    throw new NotSigned(
      'payout',
      `it would keep ${kept} units of ${row.grossUnits} back for its fee, and may keep from 0 to ${most}: let it be asked for again`,
    );
  return orderOf(bench, facts, kind, { account: 'live', index });
}

function topUp(bench: Bench, facts: Facts): Order {
  const { asked } = facts;
  const { transfers } = bench;
  requireFromGasWallet(bench, facts, 'a top-up goes');
  if (asked.amountUnits <= 0n || asked.amountUnits > transfers.mostTopUp)
    throw new NotSigned(
      'terms',
      `a top-up of ${asked.amountUnits} units is more than one transfer can cost (${transfers.mostTopUp}): ask for less, or raise what a transfer may cost`,
    );
  return orderOf(bench, facts, 'native', GAS_WALLET);
}

/** Throws {@link NotSigned} where an address is given more and more, and pays nothing out with it. */
function requireSpent({ index, transfers, now }: Bench, facts: Facts, { transfer }: Order): void {
  const { asked, isGasWalletNoted, outcomes } = facts;
  if (!isGasWalletNoted)
    throw new NotSigned(
      'wallet',
      'no watcher counts the gas wallet as ours yet, and would take a top-up for a deposit: see that a worker runs and watches the chain',
    );
  const given = index
    .topUps(asked.network, asked.toKey)
    .filter((line) => !isLost(line, outcomes.get(line.hash), now));
  const { payoutId: payout_id, purpose, attempt, amountUnits: amount } = asked;
  const sum = sumOf([...given, { payout_id, purpose, attempt, amount, nonce: transfer.nonce }]);
  const most = MOST_GIVEN * transfers.mostTopUp;
  if (sum <= most) return;
  throw new NotSigned(
    'payout',
    `with it the address would have been given ${sum} units and have paid nothing out since, and it is given ${most} at most: find out where they went, or raise what a transfer may cost`,
  );
}

// What a stake of the gas wallet gives is lent to an address for a payout, and taken back when that is over.
// No money moves; but whoever could ask for it at will would take away what other payouts are planned with.

/**
 * Lends an address what its payout of a token takes, once for a payout. The payout, its deposits and its
 * destination were looked at before. Throws {@link NotSigned}.
 */
function lend(bench: Bench, facts: Facts): Order {
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
function takeBack(bench: Bench, facts: Facts): Order {
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
function requireFromGasWallet({ wallet }: Bench, { asked, payout: row }: Facts, what: string): void {
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
function requireUndisturbed(bench: Bench, { foreignHash, payout }: Facts): void {
  if (foreignHash !== null)
    throw new NotSigned(
      'wallet',
      `the wallet sent ${foreignHash}, which nobody signed here: see "deposit stuck", and decide with "payout accept" or "payout deny"`,
    );
  requireGoing(bench.index, payout.merchantId, bench);
}
