// What may be signed: every check of one row, over facts that were read under a lock. Nothing is believed
// because somebody wrote it into the row.
import { type AddressKey, keyOfHex } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import { type Transfer, type TransferTerms, WrongTerms } from '../../chains/transfer.ts';
import { assetOf, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Moving } from '../moved.ts';
import { provenAt, provenDestination } from './directions.ts';
import { isLost, placeOfTransfer, replaced, requireUnpaid } from './earlier.ts';
import type { SignCase } from './facts.ts';
import { requireRoom, sumOf } from './limits.ts';
import { requireGoing } from './pauses.ts';
import { givenUp, NotSigned, notSigned } from './refusal.ts';

/** What is signed, and with which key. */
export type Order = {
  readonly transfer: Transfer;
  readonly terms: TransferTerms;
  readonly sender: { readonly account: 'live' | 'gas'; readonly index: number };
  readonly depositIds: readonly string[];
};

/** What an address is given without paying anything out, in transfers at their dearest. */
const MOST_GIVEN = 2n;
const GAS_WALLET = { account: 'gas', index: 0 } as const;

/**
 * The same transfer in the place of one that the journal holds, for a higher price; undefined where a row
 * asks for something else. What is signed may land at any time, so this gives nobody anything, and all that
 * stands behind it in the wallet's order waits for it: it is held to what it may cost and to the transfer
 * before it, and to nothing that is said of its payout, its destination or a limit. Throws {@link NotSigned}.
 */
export function replacement(facts: SignCase): Order | undefined {
  const { network, purpose, fromKey, toKey, currency, amountUnits } = facts.asked;
  if (!facts.transfers.hasNonce) return undefined;
  const open = replaced(facts);
  if (open?.network !== network || open.from !== fromKey || open.to !== toKey) return undefined;
  // A payout of coins pays the difference of the price out of what it moves.
  const isCoins = purpose === 'payout' && currency === NATIVE_CURRENCY[network];
  const most = isCoins ? termsOf(facts, 'native').mostUnits : 0n;
  if (amountUnits > open.amount + most || amountUnits < open.amount - most) return undefined;
  if (purpose === 'gas') return topUp(facts);
  return { ...payOut(facts, open.to, requireOwner(facts)), depositIds: open.deposits };
}

/**
 * The transfer that a row asks for, when everything about it is right. Throws {@link NotSigned} for the first
 * thing that is not, and `Sealed` where a row was written by somebody without the key.
 */
export function decide(facts: SignCase): Order {
  if (facts.asked.purpose === 'reclaim') return takeBack(facts);
  requirePayout(facts);
  const index = requireOwner(facts);
  requireDeposits(facts);
  const destination = provenDestination(facts);
  requireUnpaid(facts);
  requireUndisturbed(facts);
  const order = orderFor(facts, destination, index);
  const moving = movedBy(facts, order);
  if (facts.asked.purpose === 'gas') requireSpent(facts, moving);
  requireRoom(facts, moving);
  return order;
}

/**
 * What a row moves. A loan moves nothing itself: but a transfer that waits for room, for hours, would keep
 * the part of the stake that it was lent.
 */
function movedBy({ asked, payout }: SignCase, { transfer: { nonce } }: Order): Moving {
  const { network, currency, amountUnits: amount, payoutId, purpose, attempt } = asked;
  const common = { network, payout_id: payoutId, attempt, merchant_id: payout.merchantId, nonce };
  return purpose === 'delegate'
    ? { ...common, purpose: 'payout', currency: payout.currency, amount: payout.grossUnits }
    : { ...common, purpose, currency, amount };
}

function orderFor(facts: SignCase, destination: AddressKey, index: number): Order {
  const { purpose } = facts.asked;
  if (purpose === 'payout') return payOut(facts, destination, index);
  return purpose === 'gas' ? topUp(facts) : lend(facts);
}

const isLiving = (state: string): boolean => (LIVING_PAYOUTS as readonly string[]).includes(state);

function requirePayout({ payout, asked }: SignCase): void {
  const { mode, simulated, state, network } = payout;
  if (mode !== 'live' || simulated) throw givenUp('the payout is one of test mode, which moves no money');
  const isFirst = asked.purpose !== 'payout' || asked.attempt === 1;
  if (isFirst ? state !== 'planned' : !isLiving(state))
    throw notSigned.payout`the payout is ${state}: nothing is signed for it any more, and what was asked for is given up by itself`;
  if (network !== asked.network) throw givenUp('the payout is on another chain than what was asked for');
}

/** Returns the index of the address below the wallet's account. */
function requireOwner({ owner, payout, keys, wallet }: SignCase): number {
  if (!owner)
    throw notSigned.payout`no customer has the address that the payout takes from: find out who wrote the payout`;
  provenAt(keys, owner);
  if (owner.mode !== 'live' || owner.merchantId !== payout.merchantId)
    throw notSigned.payout`the address belongs to another merchant or to test mode: find out who wrote the payout`;
  const derived = wallet.depositAddress(owner.network, 'live', owner.walletIndex);
  const key = addressKeyOf(owner.network, derived);
  if (key !== owner.addressKey || key !== payout.addressKey || derived !== owner.address)
    throw notSigned.wallet`${owner.address} is not the address at its place of this wallet: open the wallet that it was made from`;
  return owner.walletIndex;
}

function requireDeposits({ transfers, payout, deposits }: SignCase): void {
  if (deposits.length === 0) throw givenUp('the payout covers no deposit');
  const token = assetOf(payout.network, payout.currency).kind === 'token' ? transfers.token : null;
  const isPayable = (deposit: SignCase['deposits'][number]): boolean =>
    deposit.merchantId === payout.merchantId &&
    deposit.mode === 'live' &&
    !deposit.simulated &&
    deposit.network === payout.network &&
    deposit.currency === payout.currency &&
    deposit.addressKey === payout.addressKey &&
    contractKey(payout.network, deposit.contractAddress) === token &&
    deposit.status === 'completed' &&
    deposit.blockHash !== null &&
    deposit.verifiedAt !== null;
  const wrong = deposits.find((deposit) => !isPayable(deposit));
  if (wrong)
    throw notSigned.payout`deposit ${wrong.id} is not one that this payout may pay out (live, completed, read twice, of this address, merchant and asset): the payout is given up by itself, and planned again without it`;
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

function payOut(facts: SignCase, destination: AddressKey, index: number): Order {
  const { asked, payout, deposits } = facts;
  const { kind } = assetOf(payout.network, payout.currency);
  if (asked.fromKey !== payout.addressKey || asked.currency !== payout.currency)
    throw givenUp('what was asked for is not the transfer of its payout');
  if (asked.toKey !== destination)
    throw notSigned.destination`what was asked for goes elsewhere than to the withdraw address of the merchant: find out who wrote the row`;
  const kept = payout.grossUnits - asked.amountUnits;
  // Less than its fee may cost where an earlier one has kept back too much.
  const most = kind === 'native' ? termsOf(facts, kind).mostUnits : 0n;
  if (asked.amountUnits <= 0n || kept < 0n || kept > most)
    throw notSigned.payout`it would keep ${kept} units of ${payout.grossUnits} back for its fee, and may keep from 0 to ${most}: let it be asked for again`;
  return { ...orderOf(facts, kind, { account: 'live', index }), depositIds: deposits.map(({ id }) => id) };
}

function topUp(facts: SignCase): Order {
  const { asked, transfers } = facts;
  requireFromGasWallet(facts, 'a top-up goes');
  if (asked.amountUnits <= 0n || asked.amountUnits > transfers.mostTopUp)
    throw notSigned.terms`a top-up of ${asked.amountUnits} units is more than one transfer can cost (${transfers.mostTopUp}): ask for less, or raise what a transfer may cost`;
  return orderOf(facts, 'native', GAS_WALLET);
}

/** Throws {@link NotSigned} where an address is given more and more, and pays nothing out with it. */
function requireSpent(facts: SignCase, moving: Moving): void {
  const { index, transfers, now, asked, isGasWalletNoted, outcomes } = facts;
  if (!isGasWalletNoted)
    throw notSigned.wallet`no watcher counts the gas wallet as ours yet, and would take a top-up for a deposit: see that a worker runs and watches the chain`;
  const given = index
    .topUps(asked.network, asked.toKey)
    .filter((line) => !isLost(line, outcomes.get(line.hash), now));
  const sum = sumOf([...given, moving]);
  const most = MOST_GIVEN * transfers.mostTopUp;
  if (sum > most)
    throw notSigned.payout`with it the address would have been given ${sum} units and have paid nothing out since, and it is given ${most} at most: find out where they went, or raise what a transfer may cost`;
}

// What a stake of the gas wallet gives is lent to an address for a payout, and taken back when that is over.
// No money moves; but whoever could ask for it at will would take away what other payouts are planned with.

/**
 * Lends an address what its payout of a token takes, once for a payout. The payout, its deposits and its
 * destination were looked at before. Throws {@link NotSigned}.
 */
function lend(facts: SignCase): Order {
  const { network, currency } = facts.payout;
  if (assetOf(network, currency).kind === 'native')
    throw givenUp('a payout of the coin runs no contract, and is lent nothing');
  requireFromGasWallet(facts, 'energy is lent');
  return loan(facts, 'delegate');
}

/**
 * Takes back what the journal has lent an address for a payout, to the unit, when that is over. Throws
 * {@link NotSigned}.
 */
function takeBack(facts: SignCase): Order {
  const { asked, payout, index } = facts;
  if (payout.network !== asked.network)
    throw givenUp('the payout is on another chain than what was asked for');
  if (isLiving(payout.state)) throw givenUp(`the payout is ${payout.state}, and takes what it was lent`);
  requireFromGasWallet(facts, 'energy is taken back');
  const lent = index
    .given(asked.network, asked.toKey)
    .filter(({ purpose, from }) => purpose === 'delegate' && from === asked.fromKey);
  if (!lent.some(({ amount }) => amount === asked.amountUnits))
    throw givenUp('the journal has lent the address no such part of the stake');
  requireUndisturbed(facts);
  return loan(facts, 'reclaim');
}

function loan(facts: SignCase, kind: 'delegate' | 'reclaim'): Order {
  if (!facts.transfers.lends) throw givenUp(`nothing can be lent on ${facts.asked.network}`);
  if (facts.asked.amountUnits <= 0n) throw notSigned.terms`it would lend nothing: it is given up by itself`;
  return orderOf(facts, kind, GAS_WALLET);
}

/** `what` is what goes from there, with its verb. Throws {@link NotSigned}. */
function requireFromGasWallet({ wallet, asked, payout }: SignCase, what: string): void {
  const gas = addressKeyOf(payout.network, wallet.publicParts.gas[payout.network]);
  const coin = NATIVE_CURRENCY[payout.network];
  if (asked.fromKey !== gas || asked.toKey !== payout.addressKey || asked.currency !== coin)
    throw givenUp(`${what} from the gas wallet to the address of its payout, in the coin`);
}

/** Throws {@link NotSigned} while somebody else uses the wallet, and while payouts are paused. */
function requireUndisturbed(facts: SignCase): void {
  if (facts.foreignHash !== null)
    throw notSigned.wallet`the wallet sent ${facts.foreignHash}, which nobody signed here: see "deposit stuck", and decide with "payout accept" or "payout deny"`;
  requireGoing(facts);
}

/** The transfer that was asked for, in its place. Throws {@link NotSigned}. */
function orderOf(facts: SignCase, kind: Transfer['kind'], sender: Order['sender']): Order {
  const terms = termsOf(facts, kind);
  const { fromKey: from, toKey: to, amountUnits: units } = facts.asked;
  const transfer = { from, to, kind, units, nonce: placeOfTransfer(facts, terms) };
  return { transfer, terms, sender, depositIds: [] };
}

/** The terms that were asked for, as the chain reads them. Throws {@link NotSigned} where it does not. */
function termsOf({ transfers, now, asked }: SignCase, kind: Transfer['kind']): TransferTerms {
  try {
    return transfers.terms(asked.terms, kind, now);
  } catch (error) {
    throw error instanceof WrongTerms ? new NotSigned('terms', error.message) : error;
  }
}
