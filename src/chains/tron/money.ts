// The single movements of money in one transaction that succeeded.
import type { AddressKey } from '../address-key.ts';
import type { Collector, Sum } from '../collector.ts';
import type { AddressLookup } from '../reader.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { listOf, malformed, membersOf, type SentTransaction } from './sent-block.ts';
import { AFTER_41, isPrefixed, readId, readSun, readWord, spelledAt } from './sent-values.ts';

/** keccak256("Transfer(address,address,uint256)") */
const TRANSFER_TOPIC = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** In a padded topic the address stands behind 12 zero bytes. */
const TOPIC_ADDRESS = 24;
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

/** Credits a `TransferContract`, the plain transfer of TRX. */
export function creditPlain(
  found: Collector,
  { txHash, value }: SentTransaction,
  watched: AddressLookup,
): void {
  const { to_address: to, owner_address: from, amount } = value;
  if (!isPrefixed(to)) throw malformed();
  if (watched.has(to, AFTER_41))
    creditSun(found, { txHash, to, from, amountUnits: readSun(amount) }, watched);
}

/**
 * Credits what code passed on in TRX, as far as the node saved it. TRC-10 has a `tokenId` and is no TRX;
 * what was rejected is listed as well.
 */
export function creditInternals(
  found: Collector,
  txHash: string,
  internals: readonly unknown[],
  watched: AddressLookup,
): void {
  const seen = new Set<string>();
  for (const sent of internals) {
    const internal = membersOf(sent);
    const { transferTo_address: to, caller_address: from, note, rejected } = internal;
    if (isPrefixed(to) && !watched.has(to, AFTER_41)) continue;
    if (rejected !== undefined && typeof rejected !== 'boolean') throw malformed();
    if (rejected === true || typeof note !== 'string' || !MOVING.has(note.toLowerCase())) continue;
    const amountUnits = sunOf(internal['callValueInfo']);
    if (amountUnits === 0n) continue;
    const hash = readId(internal['hash']);
    if (!isPrefixed(to) || hash === undefined) throw malformed();
    // Shown twice, its money would be summed.
    if (seen.size === seen.add(hash).size)
      throw new EndpointFailure(`transaction ${txHash} shows an internal one twice`);
    creditSun(found, { txHash, to, from, amountUnits, inside: true }, watched);
  }
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
  readonly inside?: true;
};

function creditSun(found: Collector, { to, from, ...part }: SentSun, watched: AddressLookup): void {
  if (part.amountUnits === 0n) return;
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
  txHash: string,
  logs: readonly unknown[],
  rules: MoneyRules,
): void {
  for (const sent of logs) {
    const log = membersOf(sent);
    const topics = listOf(log['topics']);
    const [topic, , to] = topics;
    if (typeof topic !== 'string' && topic !== undefined) throw malformed();
    if (topic?.toLowerCase() !== TRANSFER_TOPIC || to === undefined) continue;
    if (typeof to !== 'string' || to.length !== WORD) throw malformed();
    const { address, data = '' } = log;
    // With 41 in front, or in base58, no contract would ever be the token.
    if (typeof address !== 'string' || address.length !== KEY_DIGITS || typeof data !== 'string')
      throw malformed();
    if (rules.watched.has(to, TOPIC_ADDRESS))
      creditLog(found, { txHash, address, from: topics[1], to, isPlain: topics.length === 3, data }, rules);
  }
}

type SentLog = {
  readonly txHash: string;
  readonly address: string;
  readonly from: unknown;
  readonly to: string;
  readonly isPlain: boolean;
  readonly data: string;
};

function creditLog(found: Collector, log: SentLog, { token, watched }: MoneyRules): void {
  const { txHash, from } = log;
  const isToken = log.address.toLowerCase() === token;
  const to = spelledAt(log.to, TOPIC_ADDRESS);
  const contract = spelledAt(log.address, 0);
  if (!log.isPlain || log.data.length !== WORD) {
    const reason = isToken
      ? 'a Transfer log of the token contract in an unknown form'
      : 'a collectible or a token in an unknown form';
    found.reject({ txHash, to, contract, amountUnits: null, reason });
    return;
  }
  const amountUnits = readWord(log.data);
  if (amountUnits === 0n) return;
  if (!isToken) {
    found.reject({ txHash, to, contract, amountUnits, reason: 'another token' });
    return;
  }
  if (typeof from !== 'string' || from.length !== WORD) throw malformed();
  const part: Sum = { txHash, to, from: spelledAt(from, TOPIC_ADDRESS), kind: 'token', amountUnits };
  creditPart(found, part, watched.isOwn(from, TOPIC_ADDRESS));
}
