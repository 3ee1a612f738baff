// What one of our own wallets sent, from the transaction and its info. Here every member has to be right: a
// payout is told by it. That the wallet's key has signed it is proven, and never believed.

import { keyOfHex } from '../../address-key.ts';
import type { Outgoing } from '../../outgoing.ts';
import type { AddressLookup } from '../../reader.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { keysThatSigned } from '../signature.ts';
import { hashOf, hasRun, hasSucceeded, malformed, membersOf, type SentTransaction } from './sent-block.ts';
import { AFTER_41, isPrefixed, readSun, spelledAt } from './sent-values.ts';

/**
 * True for a transaction of one of our wallets, of whatever type, that its key has signed, be it one of
 * several. Other keys alone sign for a wallet only by permissions that its own key has given away: that act
 * is told of, and what they sign is not: anybody could sign the like, and no answer shows who may. Throws
 * EndpointFailure where nobody has signed, and where the owner has another form than nodes give it: it would
 * never be ours. What a node cannot print shows none, and is none of ours.
 */
export function isOurs(transaction: SentTransaction, watched: AddressLookup): boolean {
  const { value, signature } = transaction;
  const owner = (value as { readonly owner_address?: unknown } | null | undefined)?.owner_address;
  if (owner === undefined) return false;
  if (!isPrefixed(owner)) throw malformed();
  if (!watched.isOwn(owner, AFTER_41)) return false;
  const id = hashOf(transaction);
  const signers = keysThatSigned(id, signature);
  if (signers.length === 0)
    throw new EndpointFailure(`transaction ${id} in the name of a wallet of ours, which nobody signed`);
  return signers.includes(keyOfHex(owner, AFTER_41));
}

/** Notes a transaction of ours, with the TRX that it moved. Throws EndpointFailure where it is not whole. */
export function noteSent(
  outgoing: Outgoing,
  transaction: SentTransaction,
  info: Record<string, unknown>,
): void {
  const [txHash, ok] = [hashOf(transaction), hasSucceeded(transaction)];
  // Only code can fail within a valid block. Believed of a payout, it would be paid once more.
  if (typeof transaction.contractRet !== 'string' || (!ok && !hasRun(info)))
    throw new EndpointFailure(`transaction ${txHash} of ours does not say how it ended`);
  const from = spelledAt(membersOf(transaction.value)['owner_address'], AFTER_41);
  outgoing.sent({ txHash, from, nonce: null, ok, feeUnits: feeOf(txHash, info) });
  const [to, units] = ok ? paidBy(transaction, info) : NOTHING;
  if (units > 0n) outgoing.left({ txHash, from, to: spelledAt(to, AFTER_41), currency: 'TRX', units });
}

/** All that was taken, of which the receipt tells two parts. Zeros are left out by nodes. */
function feeOf(txHash: string, info: Record<string, unknown>): bigint {
  const fee = readSun(info['fee']);
  const { net_fee: net, energy_fee: energy } = membersOf(info['receipt'] ?? {});
  if (fee < readSun(net) + readSun(energy))
    throw new EndpointFailure(`transaction ${txHash} of ours with less than its fee`);
  return fee;
}

const NOTHING = [undefined, 0n] as const;

/** To whom a transaction itself moved TRX. What was frozen or lent stays the wallet's own. */
function paidBy({ type, value }: SentTransaction, info: Record<string, unknown>): readonly [unknown, bigint] {
  const sent = membersOf(value);
  if (type === 'TransferContract') return [prefixed(sent['to_address']), readSun(sent['amount'])];
  if (type === 'TriggerSmartContract')
    return [prefixed(sent['contract_address']), readSun(sent['call_value'])];
  if (type !== 'CreateSmartContract') return NOTHING;
  const units = readSun(membersOf(sent['new_contract'] ?? {})['call_value']);
  return units > 0n ? [prefixed(info['contract_address']), units] : NOTHING;
}

function prefixed(address: unknown): string {
  if (!isPrefixed(address)) throw malformed();
  return address;
}
