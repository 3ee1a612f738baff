// The transactions of a block and their infos in the shape in which nodes send them, and the checks that
// they pass before money is read from them.
import type { BlockRef } from '../../reader.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { rawHeader } from './header.ts';
import { readId } from './sent-values.ts';

/** What the header names as the root of no transactions at all. */
const NO_TRANSACTIONS = '0'.repeat(64);
const ID_DIGITS = 64;
const SUCCESS = 'SUCCESS';

/** One transaction; `value` holds what its only contract says. */
export type SentTransaction = {
  /** As the node spells it; see {@link hashOf}. */
  readonly id: string;
  /** `SUCCESS`, another word, or something that is none. */
  readonly contractRet: unknown;
  readonly signature: unknown;
  readonly type: string;
  readonly value: unknown;
};

/** What a transaction did that ran code and succeeded; a list that the node left out is empty. */
export type Effects = { readonly logs: readonly unknown[]; readonly internals: readonly unknown[] };

/**
 * The transactions of a block as they came. Throws EndpointFailure where they cannot be all of them: a header
 * that was asked for alone has none either, and tells by its root that there are some.
 */
export function transactionsOf(ref: BlockRef, block: unknown): readonly unknown[] {
  const root = readId(rawHeader(block)['txTrieRoot']);
  const sent = (isRecord(block) ? block['transactions'] : undefined) ?? [];
  if (root === undefined || !Array.isArray(sent) || (sent.length === 0) !== (root === NO_TRANSACTIONS))
    throw new EndpointFailure(`block ${ref.number} without its transactions`);
  return sent;
}

/** The infos as they came. Throws EndpointFailure unless there are as many as transactions. */
export function infosOf(ref: BlockRef, infos: unknown, transactions: number): readonly unknown[] {
  if (!Array.isArray(infos)) throw new EndpointFailure(`no infos for block ${ref.number}`);
  if (infos.length !== transactions)
    throw new EndpointFailure(
      `incomplete block ${ref.number}: ${infos.length} infos for ${transactions} transactions`,
    );
  return infos;
}

/**
 * One transaction of a block. Every valid one has exactly one contract. Its results are not counted: senders
 * can add some, and the first one is the block's own. What else is odd in a stranger's is of no concern.
 */
export function readTransaction(sent: unknown): SentTransaction {
  const { txID: id, raw_data: raw, ret, signature } = membersOf(sent);
  const contracts = membersOf(raw)['contract'];
  if (typeof id !== 'string' || id.length !== ID_DIGITS) throw malformed();
  if (!Array.isArray(contracts) || contracts.length !== 1) throw malformed();
  const { type, parameter } = membersOf(contracts[0]);
  if (typeof type !== 'string') throw malformed();
  const result: unknown = Array.isArray(ret) ? ret[0] : undefined;
  return {
    id,
    contractRet: isRecord(result) ? result['contractRet'] : undefined,
    signature,
    type,
    value: isRecord(parameter) ? parameter['value'] : undefined,
  };
}

/**
 * The id of a transaction that concerns us. Throws EndpointFailure for every spelling but the one that nodes
 * use and that is kept: a transaction shown twice in two spellings would be credited twice.
 */
export function hashOf({ id }: SentTransaction): string {
  if (readId(id) !== id) throw malformed();
  return id;
}

/** True where the block says that the transaction succeeded. */
export function hasSucceeded({ contractRet }: SentTransaction): boolean {
  return contractRet === SUCCESS;
}

/** The first eight digits of an id as some whole number above zero. */
export function beginOf({ id }: SentTransaction): number {
  let begin = 0;
  for (let at = 0; at < 8; at++) begin = (Math.imul(begin, 31) + id.charCodeAt(at)) & 0x3fff_ffff;
  return begin | 1;
}

/**
 * True where two of the ids are one. Being hashes, nearly all differ in their begins, which
 * whoever has just read the ids takes from them at next to no cost.
 */
export function hasTwice(transactions: readonly SentTransaction[], begins: readonly number[]): boolean {
  return hasEqual(begins) && new Set(transactions.map(({ id }) => id)).size < transactions.length;
}

/** True where two of the numbers are equal: they are put where each belongs, or at the next free place. */
function hasEqual(numbers: readonly number[]): boolean {
  const mask = 4 * 2 ** Math.ceil(Math.log2(numbers.length + 1)) - 1;
  const places = new Int32Array(mask + 1);
  for (const number of numbers) {
    let place = (number >> 1) & mask;
    for (; places[place] !== 0; place = (place + 1) & mask) if (places[place] === number) return true;
    places[place] = number;
  }
  return false;
}

/**
 * The info of this transaction. Throws EndpointFailure for one of another transaction, height or time: infos
 * are asked for by height, so they may come from another branch or a node that lags.
 */
export function infoOf(ref: BlockRef, transaction: SentTransaction, sent: unknown): Record<string, unknown> {
  const info = membersOf(sent);
  const { id, blockNumber, blockTimeStamp } = info;
  if (id !== transaction.id || blockNumber !== ref.number || blockTimeStamp !== ref.timestampMs)
    throw new EndpointFailure(
      `incomplete block ${ref.number}: an info that belongs to another block or transaction`,
    );
  return info;
}

/**
 * What a transaction did that ran code and succeeded; undefined where it ran none or failed. Throws
 * EndpointFailure where transaction and info disagree about that: a block in which they do is valid for no
 * node, so no stranger can make one. `contractResult` says nothing: what a call returns is the contract's own
 * affair, and the old Tether returns false.
 */
export function effectsOf(
  transaction: SentTransaction,
  info: Record<string, unknown>,
  internals: readonly unknown[],
): Effects | undefined {
  const result = resultIn(info);
  const succeeded = hasSucceeded(transaction);
  const unclear = result === undefined ? isCall(transaction) : (result === SUCCESS) !== succeeded;
  if (unclear || (succeeded && info['result'] === 'FAILED'))
    throw new EndpointFailure(`transaction ${transaction.id} succeeded and failed`);
  const logs = listOf(info['log']);
  if (result !== undefined) return succeeded ? { logs, internals } : undefined;
  if (logs.length > 0 || internals.length > 0)
    throw new EndpointFailure(`transaction ${transaction.id} ran no code and shows what code did`);
  return undefined;
}

function resultIn({ receipt }: Record<string, unknown>): unknown {
  return isRecord(receipt) ? receipt['result'] : undefined;
}

/** True where the info says how code ended, well or not. */
export function hasRun(info: Record<string, unknown>): boolean {
  return resultIn(info) !== undefined;
}

/** These run code, and their infos always say how it ended. */
function isCall({ type }: SentTransaction): boolean {
  return type === 'TriggerSmartContract' || type === 'CreateSmartContract';
}

/** A list that nodes leave out where it is empty. Throws EndpointFailure for anything else. */
export function listOf(sent: unknown): readonly unknown[] {
  if (sent === undefined) return NOTHING;
  if (!Array.isArray(sent)) throw malformed();
  return sent;
}

const NOTHING: readonly unknown[] = [];

/** The members of an object that has to be there. Throws EndpointFailure for anything else. */
export function membersOf(sent: unknown): Record<string, unknown> {
  if (!isRecord(sent)) throw malformed();
  return sent;
}

/** What is thrown for an answer whose shape is no node's. */
export function malformed(): EndpointFailure {
  return new EndpointFailure('a malformed block');
}
