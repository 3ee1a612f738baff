// From a block and its receipts, as the node sent them, to the money in it. Pure and on the
// hot path: two blocks a second for ever, thousands a second while catching up, so strings
// are compared in place and nothing is formatted.

import type { AddressKey } from '../address-key.ts';
import { Collector, type Sum } from '../collector.ts';
import type { AddressLookup, BlockRef, NamedTransaction, ScannedBlock } from '../reader.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { isSame, lower, readHash, readQuantity } from '../rpc/hex.ts';
import { type BloomProbe, bloomMayHold, bloomOf, bloomProbe, EMPTY_BLOOM } from './bloom.ts';
import { noteLeft, noteSent } from './outgoing.ts';
import {
  checkReceipt,
  hashOf,
  hasSucceeded,
  type RpcBlock,
  type RpcLog,
  type RpcReceipt,
  type RpcTransaction,
  TOPIC_ADDRESS,
} from './sent-block.ts';
import type { InternalTransfer } from './traces/trace.ts';

/** keccak256("Transfer(address,address,uint256)") */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const D = TRANSFER_TOPIC.charCodeAt(2);

export type BscToken = { readonly contract: string; readonly probe: BloomProbe };

/** What has to be known of the token contract (lower-case 0x) to find its transfers. */
export function bscToken(contract: string): BscToken {
  return { contract, probe: bloomProbe([contract, TRANSFER_TOPIC]) };
}

export type DecodeRules = {
  readonly token: BscToken;
  readonly chainId: number;
  readonly watched: AddressLookup;
  readonly unrecognisedLimit: number;
  /** What a trace of the same block showed; undefined where there is none. */
  readonly internals?: readonly InternalTransfer[] | undefined;
  /** Address keys; see `ChainReader.scan`. */
  readonly naming?: readonly AddressKey[] | undefined;
};

/**
 * Finds what a block brought to our addresses. Credited: value above zero, in a successful
 * transaction, from a sender that is not ours; as BNB in the transaction itself or as a
 * Transfer log of exactly the token contract, whoever called it. Other tokens are recorded,
 * never credited. What keys of our wallets have signed is told as well. Throws EndpointFailure when receipts
 * and block do not belong together, when logs are missing, when one that money is read from is shown twice
 * or belongs elsewhere, and when a transaction of ours is not whole or not signed.
 */
export function decodeBlock(
  ref: BlockRef,
  block: RpcBlock,
  receipts: unknown,
  rules: DecodeRules,
): ScannedBlock {
  const { transactions } = block;
  if (!Array.isArray(receipts)) throw new EndpointFailure(`no receipts for block ${ref.number}`);
  if (receipts.length !== transactions.length) {
    throw new EndpointFailure(
      `incomplete block ${ref.number}: ${receipts.length} receipts for ${transactions.length} transactions`,
    );
  }
  const found = new Collector('bsc', rules.unrecognisedLimit);
  const internals =
    rules.internals && rules.internals.length > 0
      ? Map.groupBy(rules.internals, (part) => part.txHash)
      : undefined;
  const named: NamedTransaction[] = [];
  let logCount = 0;
  for (let i = 0; i < receipts.length; i++) {
    const transaction = transactions[i] as RpcTransaction;
    const receipt = receipts[i] as RpcReceipt;
    checkReceipt(ref, transaction, receipt);
    logCount += receipt.logs.length;
    noteSent(found.outgoing, transaction, receipt, rules);
    if (!hasSucceeded(receipt)) continue;
    if (!isNothing(transaction.value) && transaction.to !== null && rules.watched.isOwn(transaction.to, 2))
      creditNative(found, transaction, rules.watched);
    for (const part of internals?.get(transaction.hash) ?? [])
      passOn(found, { ...part, txHash: hashOf(transaction) }, rules.watched);
    if (rules.naming) noteNamed(named, transaction, rules.naming);
    const tokenLogs = readLogs(found, ref, receipt, rules);
    checkLogs(ref, receipt, tokenLogs, rules.token);
  }
  if (logCount === 0 && block.logsBloom !== undefined && lower(block.logsBloom) !== EMPTY_BLOOM) {
    throw new EndpointFailure(`incomplete block ${ref.number}: its bloom names logs and none came`);
  }
  const own = found.own();
  return {
    ...ref,
    transfers: found.transfers(),
    unrecognised: found.unrecognised,
    unrecognisedDropped: found.dropped,
    ...(own.length > 0 ? { own } : {}),
    ...found.outgoing.result(),
    ...(found.fundsGas ? { fundsGas: true } : {}),
    ...(rules.internals ? {} : { untraced: { succeeded: succeededOf(receipts as RpcReceipt[]) } }),
    ...(rules.naming ? { named } : {}),
  };
}

function succeededOf(receipts: readonly RpcReceipt[]): ReadonlySet<string> {
  return new Set(receipts.filter(hasSucceeded).map((receipt) => lower(receipt.transactionHash)));
}

function isNothing(quantity: string): boolean {
  return quantity === '0x0' || quantity === '0X0';
}

function noteNamed(
  named: NamedTransaction[],
  { hash, input }: RpcTransaction,
  naming: readonly AddressKey[],
): void {
  if (typeof input !== 'string' || input.length < 42) return;
  const calldata = input.toLowerCase();
  for (const addressKey of naming)
    if (calldata.includes(addressKey)) named.push({ txHash: hash, addressKey, calldata });
}

/**
 * Nodes at the head of the chain are known to leave logs out without saying so. The receipt's own bloom
 * gives them away: it is zero exactly when there are no logs, and a hit for (token, Transfer) without
 * such a log is either chance or a missing log, which computing the bloom of the logs we got decides.
 */
function checkLogs(ref: BlockRef, receipt: RpcReceipt, tokenLogs: number, token: BscToken): void {
  const bloom = receipt.logsBloom;
  if (typeof bloom !== 'string' || tokenLogs > 0) return;
  const suspicious =
    receipt.logs.length === 0 ? !isSame(bloom, EMPTY_BLOOM) : bloomMayHold(bloom, token.probe);
  if (suspicious && bloomOf(receipt.logs) !== lower(bloom)) {
    throw new EndpointFailure(
      `incomplete block ${ref.number}: logs are missing in ${receipt.transactionHash}`,
    );
  }
}

function creditNative(found: Collector, transaction: RpcTransaction, watched: AddressLookup): void {
  const to = transaction.to?.toLowerCase();
  const amountUnits = BigInt(transaction.value);
  if (to === undefined || amountUnits === 0n) return;
  if (!watched.has(to, 2)) {
    found.fundsGas = true;
    return;
  }
  const part: Sum = {
    txHash: hashOf(transaction),
    to,
    from: transaction.from.toLowerCase(),
    kind: 'native',
    amountUnits,
  };
  creditPart(found, part, watched.isOwn(transaction.from, 2));
}

/** Code moves coins out of a wallet of ours only where that wallet's key has let it (EIP-7702). */
function passOn(found: Collector, part: InternalTransfer, watched: AddressLookup): void {
  const { txHash, from, to, amountUnits } = part;
  const isOwn = watched.isOwn(from, 2);
  if (isOwn) found.outgoing.left({ txHash, from, to, currency: 'BNB', units: amountUnits });
  if (watched.has(to, 2)) creditPart(found, { ...part, kind: 'native', inside: true }, isOwn);
}

function creditPart(found: Collector, part: Sum, isOwn: boolean): void {
  if (isOwn) found.keepApart(part);
  else found.credit(part);
}

function isTransfer(topic: string | undefined): boolean {
  // One digit tells nearly all others apart without a copy in lower case.
  if (topic === TRANSFER_TOPIC) return true;
  return topic !== undefined && (topic.charCodeAt(2) | 0x20) === D && topic.toLowerCase() === TRANSFER_TOPIC;
}

/** Returns how many Transfer logs of the token the receipt holds, ours or not. */
function readLogs(
  found: Collector,
  ref: BlockRef,
  receipt: RpcReceipt,
  { token, watched }: DecodeRules,
): number {
  const txHash = lower(receipt.transactionHash);
  let tokenLogs = 0;
  for (const log of receipt.logs) {
    const topics = log.topics;
    if (!isTransfer(topics[0])) continue;
    const isToken = log.address === token.contract || log.address.toLowerCase() === token.contract;
    if (isToken) tokenLogs++;
    const [, fromTopic, toTopic] = topics;
    const arrives = toTopic?.length === 66 && watched.has(toTopic, TOPIC_ADDRESS);
    const leaves = isToken && fromTopic?.length === 66 && watched.isOwn(fromTopic, TOPIC_ADDRESS);
    if ((!arrives && !leaves) || log.removed === true) continue;
    checkLog(found, ref, txHash, log);
    if (arrives) readTransfer(found, txHash, log, { isToken, watched });
    if (leaves) noteLeft(found.outgoing, txHash, log);
  }
  return tokenLogs;
}

/**
 * Logs are summed, so each has to be distinct: it belongs to this block and transaction,
 * and no other log has its place in the block.
 */
function checkLog(found: Collector, ref: BlockRef, txHash: string, log: RpcLog): void {
  const index = readQuantity(log.logIndex);
  if (index === undefined || readHash(log.transactionHash) !== txHash || readHash(log.blockHash) !== ref.hash)
    throw new EndpointFailure(
      `incomplete block ${ref.number}: a log that belongs to another block or transaction`,
    );
  if (!found.isNewLog(index)) throw new EndpointFailure(`block ${ref.number} shows log ${index} twice`);
}

function readTransfer(
  found: Collector,
  txHash: string,
  log: RpcLog,
  rule: { isToken: boolean; watched: AddressLookup },
): void {
  const [, fromTopic = '', toTopic = ''] = log.topics;
  const to = `0x${toTopic.slice(TOPIC_ADDRESS).toLowerCase()}`;
  const contract = log.address.toLowerCase();
  const standard = log.topics.length === 3 && fromTopic.length === 66 && log.data.length === 66;
  if (!standard) {
    const reason = rule.isToken
      ? 'a Transfer log of the token contract in an unknown form'
      : 'a collectible or a token in an unknown form';
    found.reject({ txHash, to, contract, amountUnits: null, reason });
    return;
  }
  const amountUnits = BigInt(log.data);
  if (amountUnits === 0n) return;
  if (!rule.isToken) {
    found.reject({ txHash, to, contract, amountUnits, reason: 'another token' });
  } else {
    const part: Sum = {
      txHash,
      to,
      from: `0x${fromTopic.slice(TOPIC_ADDRESS).toLowerCase()}`,
      kind: 'token',
      amountUnits,
    };
    creditPart(found, part, rule.watched.isOwn(fromTopic, TOPIC_ADDRESS));
  }
}
