// The second read of a block that did not touch us. Its id, which a final block's id proves, stands for its
// header and its transactions; for the infos stands nothing, so they are what is read again.
import { createHash } from 'node:crypto';
import type { AddressLookup, QuietBlock } from '../../reader.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { isNothing } from '../block/header.ts';
import { leavesUs, type MoneyRules, TRANSFER_TOPIC } from '../block/money.ts';
import { listOf, membersOf } from '../block/sent-block.ts';
import { AFTER_41, isPrefixed, readId } from '../block/sent-values.ts';

const TOPIC_ADDRESS = 24;
const WORD = 64;

/** What tells these transactions, in this order, from all others. */
export function fingerprintOf(txHashes: readonly string[]): string {
  return createHash('sha256').update(txHashes.join()).digest('hex');
}

/** The fingerprint of a block without transactions. */
export const EMPTY_FINGERPRINT = fingerprintOf([]);

export type ConfirmedInfos = {
  /** True where they are those of the block's transactions and show nothing of ours. */
  readonly isQuiet: boolean;
  readonly showsInternals: boolean;
  /** Code ran that may have passed on TRX, also where none is shown. */
  readonly ranCode: boolean;
};

/**
 * Compares the infos of a height with what is known of its block. Undefined where the endpoint has none
 * (yet). Throws EndpointFailure for infos of another height or time, and for what is no list of infos.
 */
export function confirmInfos(
  block: QuietBlock,
  infos: unknown,
  rules: MoneyRules,
): ConfirmedInfos | undefined {
  if (isNothing(infos) || (Array.isArray(infos) && infos.length === 0)) return undefined;
  if (!Array.isArray(infos)) throw new EndpointFailure(`no infos for block ${block.number}`);
  const ids: string[] = [];
  let [touches, showsInternals, ranCode] = [false, false, false];
  for (const sent of infos) {
    const info = membersOf(sent);
    const id = readId(info['id']);
    if (
      id === undefined ||
      info['blockNumber'] !== block.number ||
      info['blockTimeStamp'] !== block.timestampMs
    )
      throw new EndpointFailure(`incomplete block ${block.number}: an info that belongs to another block`);
    ids.push(id);
    const internals = listOf(info['internal_transactions']);
    showsInternals ||= internals.length > 0;
    ranCode ||= hasRun(info);
    touches ||=
      listOf(info['log']).some((log) => names(log, rules)) ||
      internals.some((one) => pays(one, rules.watched));
  }
  return { isQuiet: !touches && fingerprintOf(ids) === block.fingerprint, showsInternals, ranCode };
}

function hasRun({ receipt }: Record<string, unknown>): boolean {
  return isRecord(receipt) && receipt['result'] === 'SUCCESS';
}

/**
 * A Transfer log of whatever contract to a watched address, one of the token out of a wallet of ours, or one
 * in a spelling in which no address would be found. What it means is for the whole read to say.
 */
function names(sent: unknown, rules: MoneyRules): boolean {
  const log = membersOf(sent);
  const [topic, , to] = listOf(log['topics']);
  if (topic === undefined) return false;
  if (typeof topic !== 'string' || topic.length !== WORD) return true;
  if (topic.toLowerCase() !== TRANSFER_TOPIC || to === undefined) return false;
  if (typeof to !== 'string' || to.length !== WORD || rules.watched.has(to, TOPIC_ADDRESS)) return true;
  return isSome(log['data']) && leavesUs(log, rules);
}

/** Anybody can have the token tell of a transfer of nothing out of any address. */
function isSome(amount: unknown): boolean {
  return typeof amount === 'string' && /[1-9a-f]/i.test(amount);
}

/** The same of an internal transaction; one that pays nobody has no receiver. */
function pays(sent: unknown, watched: AddressLookup): boolean {
  const { transferTo_address: to = '' } = membersOf(sent);
  return to !== '' && (!isPrefixed(to) || watched.has(to, AFTER_41));
}
