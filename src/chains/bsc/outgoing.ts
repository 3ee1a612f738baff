// What one of our own wallets sent, from the transaction and its receipt. Here every member has to be right:
// a payout is told by it. That the wallet's key has signed it is proven, and never believed.
import { hexAddress } from '../address-key.ts';
import type { Outgoing } from '../outgoing.ts';
import type { AddressLookup } from '../reader.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { lower, readQuantity } from '../rpc/hex.ts';
import { authorisersOf, type Signer, signersOf } from './proof/signed.ts';
import {
  hashOf,
  hasSucceeded,
  type RpcLog,
  type RpcReceipt,
  type RpcTransaction,
  TOPIC_ADDRESS,
} from './sent-block.ts';

const ADDRESS_LENGTH = 42;
/** The prefix 0x, whose letter may be a capital. */
const [ZERO, X, CASE] = [0x30, 0x78, 0x20];
const BLOB_TRANSACTION = 3;
/** The most that an account can hold; the database keeps no more. */
const MAX_UNITS = 2n ** 256n - 1n;

/**
 * True for a transaction of one of our wallets. Throws EndpointFailure where the
 * sender is spelled as no node does: it would never be ours.
 */
function isOurs({ from }: RpcTransaction, watched: AddressLookup): boolean {
  if (from?.length !== ADDRESS_LENGTH || from.charCodeAt(0) !== ZERO || (from.charCodeAt(1) | CASE) !== X)
    throw new EndpointFailure('no sender');
  return watched.isOwn(from, 2);
}

/**
 * Notes a transaction of ours, with its value, and each wallet of ours that lets others run code at its
 * address by a transaction of whomever: the chain carries that out whether it succeeds or not. Throws
 * EndpointFailure where one is not whole, or not what the key of the wallet has signed for this chain.
 */
export function noteSent(
  outgoing: Outgoing,
  transaction: RpcTransaction,
  receipt: RpcReceipt,
  { watched, chainId }: { readonly watched: AddressLookup; readonly chainId: number },
): void {
  const isSender = isOurs(transaction, watched);
  if (!isSender && !transaction.authorizationList) return;
  const isWatched = ({ key }: Signer): boolean => watched.isOwn(key, 0);
  if (!isSender && !authorisersOf(transaction, chainId).some(isWatched)) return;
  const txHash = hashOf(transaction);
  const { sender, authorisers, proof } = proven(txHash, transaction, chainId);
  const from = addressIn(transaction.from);
  if (hexAddress(sender.key) !== from || addressIn(receipt.from) !== from) throw unsigned(txHash);
  const others = authorisers.filter((one) => isWatched(one) && one.key !== sender.key);
  for (const { key, nonce } of new Map(others.toReversed().map((one) => [one.key, one])).values())
    outgoing.sent({ txHash, from: hexAddress(key), nonce, ok: true, feeUnits: 0n, proof });
  if (!isSender) return;
  const ok = hasSucceeded(receipt);
  outgoing.sent({ txHash, from, nonce: sender.nonce, ok, feeUnits: feeOf(transaction, receipt), proof });
  const { to } = transaction;
  const units = unitsIn(transaction.value);
  if (!ok || units === 0n) return;
  const receiver = addressIn(to === null ? receipt.contractAddress : to);
  outgoing.left({ txHash, from, to: receiver, currency: 'BNB', units });
}

function proven(txHash: string, transaction: RpcTransaction, chainId: number) {
  try {
    const signed = signersOf(transaction, chainId);
    if (signed.hash === txHash) return signed;
  } catch {
    // What cannot be read as a transaction is as good as unsigned.
  }
  throw unsigned(txHash);
}

/** What a transaction costs is its gas alone, but for one with blobs, which pays for their room as well. */
function feeOf({ type }: RpcTransaction, receipt: RpcReceipt): bigint {
  const gas = unitsIn(receipt.gasUsed) * unitsIn(receipt.effectiveGasPrice);
  const isPlain = readQuantity(type) !== BLOB_TRANSACTION && receipt.blobGasUsed == null;
  const fee = isPlain ? gas : gas + unitsIn(receipt.blobGasUsed) * unitsIn(receipt.blobGasPrice);
  if (fee > MAX_UNITS)
    throw new EndpointFailure('a transaction of ours that cost more than anybody can have');
  return fee;
}

/** Notes a Transfer log of the token out of our wallet. Throws EndpointFailure for one in another form. */
export function noteLeft(outgoing: Outgoing, txHash: string, { topics, data }: RpcLog): void {
  if (topics.length !== 3 || data.length !== 66)
    throw new EndpointFailure(`transaction ${txHash} of ours with a transfer in another form`);
  const [from, to] = topics.slice(1).map((topic) => addressIn(`0x${topic.slice(TOPIC_ADDRESS)}`));
  if (from !== undefined && to !== undefined)
    outgoing.left({ txHash, from, to, currency: 'USDT', units: unitsIn(data) });
}

function unitsIn(value: unknown): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new EndpointFailure('a transaction of ours with an amount that is none');
  return BigInt(value);
}

function addressIn(value: unknown): string {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value))
    throw new EndpointFailure('a transaction of ours with an address that is none');
  return lower(value);
}

function unsigned(txHash: string): EndpointFailure {
  return new EndpointFailure(`transaction ${txHash} of ours, which its wallet's key did not sign`);
}
