// The transactions of a block and their infos in the shape in which nodes send them, and the checks that
// they pass before money is read from them.
import type { BlockRef } from '../reader.ts';
import { isRecord } from '../rpc/call.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { rawHeader } from './header.ts';
import { readId } from './sent-values.ts';

/** What the header names as the root of no transactions at all. */
const NO_TRANSACTIONS = '0'.repeat(64);
const SUCCESS = 'SUCCESS';
/** These run code, and their infos always say how it ended. */
const CALLS = new Set(['TriggerSmartContract', 'CreateSmartContract']);

/** One transaction; `value` holds what its only contract says. */
export type SentTransaction = {
  readonly txHash: string;
  readonly succeeded: boolean;
  readonly type: string;
  readonly value: Record<string, unknown>;
};

/** What a transaction did that ran code and succeeded; a list that the node left out is empty. */
export type Effects = { readonly logs: readonly unknown[]; readonly internals: readonly unknown[] };

/**
 * The transactions of a block, each once, in its order. Throws EndpointFailure where they cannot be all of
 * them: a header that was asked for alone has none either, and tells by its root that there are some.
 */
export function readTransactions(ref: BlockRef, block: unknown): readonly SentTransaction[] {
  const root = readId(rawHeader(block)['txTrieRoot']);
  const sent = (isRecord(block) ? block['transactions'] : undefined) ?? [];
  if (root === undefined || !Array.isArray(sent) || (sent.length === 0) !== (root === NO_TRANSACTIONS))
    throw new EndpointFailure(`block ${ref.number} without its transactions`);
  const transactions = sent.map(readTransaction);
  if (new Set(transactions.map(({ txHash }) => txHash)).size < transactions.length)
    throw new EndpointFailure(`block ${ref.number} shows a transaction twice`);
  return transactions;
}

function readTransaction(sent: unknown): SentTransaction {
  const members = membersOf(sent);
  const contracts = membersOf(members['raw_data'])['contract'];
  const results = members['ret'];
  const txHash = readId(members['txID']);
  if (txHash === undefined || !Array.isArray(contracts) || !Array.isArray(results)) throw malformed();
  if (contracts.length !== 1 || results.length !== 1) throw malformed();
  const { type, parameter } = membersOf(contracts[0]);
  const { contractRet } = membersOf(results[0]);
  const value = membersOf(membersOf(parameter)['value']);
  if (typeof type !== 'string' || typeof contractRet !== 'string') throw malformed();
  return { txHash, succeeded: contractRet === SUCCESS, type, value };
}

/**
 * Throws EndpointFailure unless there is one info for each transaction, in the same order, of this height
 * and time. Infos are asked for by height, so they may come from another branch or a node that lags.
 */
export function checkInfos(
  ref: BlockRef,
  transactions: readonly SentTransaction[],
  infos: unknown,
): readonly Record<string, unknown>[] {
  if (!Array.isArray(infos)) throw new EndpointFailure(`no infos for block ${ref.number}`);
  if (infos.length !== transactions.length)
    throw new EndpointFailure(
      `incomplete block ${ref.number}: ${infos.length} infos for ${transactions.length} transactions`,
    );
  return infos.map((sent: unknown, at) => {
    const info = membersOf(sent);
    const txHash = transactions[at]?.txHash;
    const belongs =
      (info['id'] === txHash || readId(info['id']) === txHash) &&
      info['blockNumber'] === ref.number &&
      info['blockTimeStamp'] === ref.timestampMs;
    if (!belongs)
      throw new EndpointFailure(
        `incomplete block ${ref.number}: an info that belongs to another block or transaction`,
      );
    return info;
  });
}

/**
 * What a transaction that ran code and succeeded did; undefined where it ran none or failed. Throws
 * EndpointFailure where transaction and info disagree about that. `contractResult` says nothing: what
 * a call returns is the contract's own affair, and the old Tether returns false.
 */
export function effectsOf(
  { txHash, succeeded, type }: SentTransaction,
  info: Record<string, unknown>,
): Effects | undefined {
  const { result } = membersOf(info['receipt'] ?? {});
  const unclear =
    result === undefined ? CALLS.has(type) : typeof result !== 'string' || (result === SUCCESS) !== succeeded;
  if (unclear || (info['result'] === 'FAILED' && succeeded))
    throw new EndpointFailure(`transaction ${txHash} succeeded and failed`);
  const logs = listOf(info['log']);
  const internals = listOf(info['internal_transactions']);
  if (result !== undefined) return succeeded ? { logs, internals } : undefined;
  if (logs.length > 0 || internals.length > 0)
    throw new EndpointFailure(`transaction ${txHash} ran no code and shows what code did`);
  return undefined;
}

/** A list that nodes leave out where it is empty. Throws EndpointFailure for anything else. */
export function listOf(sent: unknown): readonly unknown[] {
  if (sent === undefined) return [];
  if (!Array.isArray(sent)) throw malformed();
  return sent;
}

/** The members of an object that has to be there. Throws EndpointFailure for anything else. */
export function membersOf(sent: unknown): Record<string, unknown> {
  if (!isRecord(sent)) throw malformed();
  return sent;
}

/** What is thrown for an answer whose shape is no node's. */
export function malformed(): EndpointFailure {
  return new EndpointFailure('a malformed block');
}
