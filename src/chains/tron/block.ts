// From a block and its infos, as a node of Tron sent them, to the money in it. Pure and on the hot path.
import type { AddressKey } from '../address-key.ts';
import { Collector } from '../collector.ts';
import type { BlockRef, NamedTransaction, ScannedBlock } from '../reader.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { namesWatched, noteNamed, paysWatched } from './calldata.ts';
import { isNothing, readTronHeader } from './header.ts';
import { creditInternals, creditLogs, creditPlain, type MoneyRules } from './money.ts';
import {
  checkInfos,
  type Effects,
  effectsOf,
  listOf,
  malformed,
  readTransactions,
  type SentTransaction,
} from './sent-block.ts';
import { AFTER_41, isPrefixed } from './sent-values.ts';

export type TronBlockRules = MoneyRules & {
  readonly unrecognisedLimit: number;
  /** Address keys; see `ChainReader.scan`. */
  readonly naming?: readonly AddressKey[] | undefined;
  /** The height that was asked for; unset means whatever the head is. */
  readonly expected?: number | undefined;
  /**
   * True where the endpoint is known to save internal transactions, which none says of itself. Otherwise a
   * block in which code ran and that shows none is untraced.
   */
  readonly savesInternals?: boolean | undefined;
};

/** A block of Tron, with what decides how it is read again. */
export type TronBlock = ScannedBlock & {
  /** Our money moves in it, or the input of a call that succeeded names a watched address. */
  readonly touches: boolean;
  /** It shows an internal transaction, of whatever kind: its endpoint saves them. */
  readonly showsInternals: boolean;
};

/**
 * Finds what a block brought to our addresses. Credited: more than zero, in a successful transaction, from
 * a sender that is not ours; as TRX in a `TransferContract` or passed on by code, or as a Transfer log of
 * exactly the token contract, whoever called it. Other tokens are recorded, never credited; TRC-10 is
 * neither. Undefined where the endpoint does not have the block or its infos (yet). Throws EndpointFailure
 * where they do not belong together, something is missing or shown twice, or an amount is not exact.
 */
export function readTronBlock(block: unknown, infos: unknown, rules: TronBlockRules): TronBlock | undefined {
  const ref = readTronHeader(block, rules.expected);
  if (!ref) return undefined;
  // No info exists of the genesis block, and what it lists are no transfers: nothing in it succeeded.
  if (ref.number === 0) return resultOf(ref, [], new Reading(rules));
  const transactions = readTransactions(ref, block);
  if (isNothing(infos) || (Array.isArray(infos) && infos.length === 0 && transactions.length > 0))
    return undefined;
  const reading = new Reading(rules);
  for (const [at, info] of checkInfos(ref, transactions, infos).entries())
    reading.add(transactions[at] as SentTransaction, info);
  return resultOf(ref, transactions, reading);
}

function resultOf(ref: BlockRef, transactions: readonly SentTransaction[], reading: Reading): TronBlock {
  const { found, named, showsInternals, ranCode, rules } = reading;
  const transfers = found.transfers();
  const own = found.own();
  const isUntraced = ranCode && !showsInternals && rules.savesInternals !== true;
  return {
    ...ref,
    transfers,
    unrecognised: found.unrecognised,
    unrecognisedDropped: found.dropped,
    ...(own.length > 0 ? { own } : {}),
    ...(isUntraced ? { untraced: { succeeded: succeededOf(transactions) } } : {}),
    ...(rules.naming ? { named } : {}),
    touches: reading.namesWatched || transfers.length + own.length > 0,
    showsInternals,
  };
}

function succeededOf(transactions: readonly SentTransaction[]): ReadonlySet<string> {
  return new Set(transactions.filter(({ succeeded }) => succeeded).map(({ txHash }) => txHash));
}

/** What is known of a block while its transactions are read, one after the other. */
class Reading {
  readonly found: Collector;
  readonly named: NamedTransaction[] = [];
  showsInternals = false;
  namesWatched = false;
  /** Code ran that may have passed on TRX. */
  ranCode = false;
  readonly rules: TronBlockRules;

  constructor(rules: TronBlockRules) {
    this.found = new Collector('tron', rules.unrecognisedLimit);
    this.rules = rules;
  }

  /** Reads one transaction with its info. */
  add(transaction: SentTransaction, info: Record<string, unknown>): void {
    const { txHash, type } = transaction;
    const { watched } = this.rules;
    this.showsInternals ||= listOf(info['internal_transactions']).length > 0;
    const effects = effectsOf(transaction, info);
    if (!transaction.succeeded) return;
    if (type === 'TransferContract') creditPlain(this.found, transaction, watched);
    if (!effects) return;
    this.ranCode = true;
    creditLogs(this.found, txHash, effects.logs, this.rules);
    creditInternals(this.found, txHash, effects.internals, watched);
    if (type === 'TriggerSmartContract') this.#readCall(transaction, effects);
  }

  #readCall({ txHash, value }: SentTransaction, { logs }: Effects): void {
    const { data = '', contract_address: contract } = value;
    const { watched, naming, token } = this.rules;
    if (typeof data !== 'string' || !isPrefixed(contract)) throw malformed();
    this.namesWatched ||= namesWatched(data, watched);
    if (naming) noteNamed(this.named, { txHash, data }, naming);
    // The token logs every transfer. Nothing else tells of logs that a node left out: infos have no bloom.
    const isToken = logs.length === 0 && contract.slice(AFTER_41).toLowerCase() === token;
    if (isToken && paysWatched(data, watched))
      throw new EndpointFailure(`incomplete block: logs are missing in ${txHash}`);
  }
}
