// The single movements of money in one transaction that succeeded.
import type { AddressKey } from '../../address-key.ts';
import type { Collector, Sum } from '../../collector.ts';
import type { Outgoing } from '../../outgoing.ts';
import type { AddressLookup } from '../../reader.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { hashOf, hasSucceeded, listOf, malformed, membersOf, type SentTransaction } from './sent-block.ts';
import { AFTER_41, isPrefixed, readId, readSun, readWord, spelledAt } from './sent-values.ts';

/** keccak256("Transfer(address,address,uint256)") */
export const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** In a padded topic the address stands behind 12 zero bytes. */
const TOPIC_ADDRESS = 24;
const D = TRANSFER_TOPIC.charCodeAt(0);
const WORD = 64;
const KEY_DIGITS = 40;

/** The notes, in hex, of internal transactions that move TRX: call, create and suicide. */
const MOVING = new Set(['63616c6c', '637265617465', '73756963696465']);

/** What has to be known to find our money. */
export type MoneyRules = {
  /** The only token contract that is credited. */
  readonly token: AddressKey;
  readonly watched: AddressLookup;
};

/**
 * Credits a `TransferContract`, the plain transfer of TRX. Throws EndpointFailure where one to us
 * does not say how it ended; what a stranger's says is of no concern.
 */
export function creditPlain(found: Collector, transaction: SentTransaction, watched: AddressLookup): void {
  const { to_address: to, owner_address: from, amount } = membersOf(transaction.value);
  // In another spelling no address would ever be ours; every valid one is written so.
  if (!isPrefixed(to)) throw malformed();
  if (!watched.isOwn(to, AFTER_41)) return;
  if (!watched.has(to, AFTER_41)) {
    found.fundsGas = true;
    return;
  }
  if (typeof transaction.contractRet !== 'string') throw malformed();
  if (!hasSucceeded(transaction)) return;
  const amountUnits = readSun(amount);
  if (amountUnits > 0n) creditSun(found, { txHash: hashOf(transaction), to, from, amountUnits }, watched);
}

/**
 * Credits what code passed on in TRX, as far as the node saved it. TRC-10 has a `tokenId` and is no TRX;
 * what was rejected is listed as well. What is not to us is not looked at: nobody can send a valid block with
 * two internal transactions of one hash, but a node may be wrong in what is no concern of ours.
 */
export function creditInternals(
  found: Collector,
  transaction: SentTransaction,
  internals: readonly unknown[],
  watched: AddressLookup,
): void {
  let seen: Set<string> | undefined;
  for (const sent of internals) {
    const internal = membersOf(sent);
    const { transferTo_address: to, rejected } = internal;
    if (isPrefixed(to) && !watched.has(to, AFTER_41)) continue;
    if (rejected !== undefined && typeof rejected !== 'boolean') throw malformed();
    const amountUnits = rejected === true || !isMoving(internal) ? 0n : sunOf(internal['callValueInfo']);
    if (amountUnits === 0n) continue;
    const hash = readId(internal['hash']);
    const txHash = hashOf(transaction);
    if (!isPrefixed(to) || hash === undefined) throw malformed();
    seen ??= new Set();
    // Shown twice, its money would be summed.
    if (seen.size === seen.add(hash).size)
      throw new EndpointFailure(`transaction ${txHash} shows an internal one twice`);
    creditSun(found, { txHash, to, from: internal['caller_address'], amountUnits }, watched);
  }
}

function isMoving({ note }: Record<string, unknown>): boolean {
  return typeof note === 'string' && MOVING.has(note.toLowerCase());
}

function sunOf(callValueInfo: unknown): bigint {
  return listOf(callValueInfo)
    .map(membersOf)
    .filter(({ tokenId }) => tokenId === undefined)
    .reduce((sum, { callValue }) => sum + readSun(callValue), 0n);
}

type SentSun = {
  readonly txHash: string;
  readonly to: string;
  readonly from: unknown;
  readonly amountUnits: bigint;
};

function creditSun(found: Collector, { to, from, ...part }: SentSun, watched: AddressLookup): void {
  if (!isPrefixed(from)) throw malformed();
  const spelled = { to: spelledAt(to, AFTER_41), from: spelledAt(from, AFTER_41) };
  creditPart(found, { ...part, ...spelled, kind: 'native' }, watched.isOwn(from, AFTER_41));
}

function creditPart(found: Collector, part: Sum, isOwn: boolean): void {
  if (isOwn) found.keepApart(part);
  else found.credit(part);
}

/** Credits the Transfer logs of the token, and keeps those of other contracts for the operator. */
export function creditLogs(
  found: Collector,
  transaction: SentTransaction,
  logs: readonly unknown[],
  rules: MoneyRules,
): void {
  for (const sent of logs) {
    const log = membersOf(sent);
    const to = receiverIn(log, rules.token);
    if (to === undefined) continue;
    if (rules.watched.has(to, TOPIC_ADDRESS))
      creditLog(found, { txHash: hashOf(transaction), to, log }, rules);
    if (leavesUs(log, rules)) noteLeft(found.outgoing, { txHash: hashOf(transaction), to, log });
  }
}

/**
 * True for a Transfer log of the token that names one of our wallets as sender. Throws EndpointFailure where
 * the token names the sender in another form than 32 bytes in hex: it would never be ours.
 */
export function leavesUs(log: Record<string, unknown>, { token, watched }: MoneyRules): boolean {
  const topics = listOf(log['topics']);
  const from = topics[1];
  if (isWord(from))
    return (
      watched.isOwn(from, TOPIC_ADDRESS) &&
      isTransferTopic(topics[0]) &&
      contractOf(log['address']).toLowerCase() === token
    );
  if (from !== undefined && isOf(log, token)) throw malformed();
  return false;
}

function noteLeft(outgoing: Outgoing, { txHash, to, log }: SentLog): void {
  const { topics, data } = log;
  const [, from, ...others] = listOf(topics);
  if (others.length !== 1 || typeof data !== 'string') throw malformed();
  const [sender, receiver] = [spelledAt(from, TOPIC_ADDRESS), spelledAt(to, TOPIC_ADDRESS)];
  outgoing.left({ txHash, from: sender, to: receiver, currency: 'USDT', units: readWord(data) });
}

/**
 * The topic of a Transfer log that names the receiver; undefined for every other log. Throws EndpointFailure
 * where topics of the token have another form than 32 bytes in hex: its transfers would be passed over.
 */
function receiverIn(log: Record<string, unknown>, token: AddressKey): string | undefined {
  const { topics } = log;
  if (topics === undefined) return undefined;
  if (!Array.isArray(topics)) throw malformed();
  const topic: unknown = topics[0];
  const to: unknown = topics[2];
  if (topic !== TRANSFER_TOPIC && !isTransferTopic(topic)) {
    if (isWord(topic) || topic === undefined || !isOf(log, token)) return undefined;
    throw malformed();
  }
  if (isWord(to)) return to;
  if (to === undefined || !isOf(log, token)) return undefined;
  throw malformed();
}

function isTransferTopic(topic: unknown): boolean {
  // One digit tells nearly all others apart without a copy in lower case.
  return isWord(topic) && (topic.charCodeAt(0) | 0x20) === D && topic.toLowerCase() === TRANSFER_TOPIC;
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length === WORD;
}

/** True for a log of the token, in whatever case. */
function isOf({ address }: Record<string, unknown>, token: AddressKey): boolean {
  return address === token || (typeof address === 'string' && address.toLowerCase() === token);
}

/** True where a Transfer log of the token names the receiver, whose 40 digits may be of any case. */
export function isLogged(to: string, logs: readonly unknown[], token: AddressKey): boolean {
  return logs.map(membersOf).some((log) => {
    const topic = isOf(log, token) ? receiverIn(log, token) : undefined;
    return topic?.slice(TOPIC_ADDRESS).toLowerCase() === to.toLowerCase();
  });
}

/**
 * The contract of a log. Zeros in front may have been left out. Throws EndpointFailure for other forms: with
 * 41 in front, or in base58, no contract would ever be the token.
 */
function contractOf(address: unknown): string {
  if (typeof address !== 'string' || !/^[0-9a-f]{1,40}$/i.test(address)) throw malformed();
  return address.padStart(KEY_DIGITS, '0');
}

type SentLog = { readonly txHash: string; readonly to: string; readonly log: Record<string, unknown> };

function creditLog(
  found: Collector,
  { txHash, to: topic, log }: SentLog,
  { token, watched }: MoneyRules,
): void {
  const topics = listOf(log['topics']);
  const address = contractOf(log['address']);
  const data = log['data'] ?? '';
  if (typeof data !== 'string') throw malformed();
  const isToken = address.toLowerCase() === token;
  const to = spelledAt(topic, TOPIC_ADDRESS);
  const contract = spelledAt(address, 0);
  if (topics.length !== 3 || data.length !== WORD) {
    const reason = isToken
      ? 'a Transfer log of the token contract in an unknown form'
      : 'a collectible or a token in an unknown form';
    found.reject({ txHash, to, contract, amountUnits: null, reason });
    return;
  }
  const amountUnits = readWord(data);
  if (amountUnits === 0n) return;
  if (!isToken) {
    found.reject({ txHash, to, contract, amountUnits, reason: 'another token' });
    return;
  }
  const from = topics[1];
  if (!isWord(from)) throw malformed();
  const part: Sum = { txHash, to, from: spelledAt(from, TOPIC_ADDRESS), kind: 'token', amountUnits };
  creditPart(found, part, watched.isOwn(from, TOPIC_ADDRESS));
}
