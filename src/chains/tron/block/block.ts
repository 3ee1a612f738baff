// From a block and its infos, as a node of Tron sent them, to the money in it. Pure and on the hot path:
// hundreds of transactions every three seconds, and all of a backlog at once, so what is a stranger's is
// passed over after as few looks as prove that it is one.
import type { AddressKey } from '../../address-key.ts';
import { Collector } from '../../collector.ts';
import type { AddressLookup, BlockRef, NamedTransaction, ScannedBlock } from '../../reader.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { constructorNamesWatched, namesWatched, noteNamed, payeeIn } from './calldata.ts';
import { exactly } from './exact-json.ts';
import { isNothing, readTronHeader } from './header.ts';
import { creditInternals, creditLogs, creditPlain, isLogged, type MoneyRules } from './money.ts';
import { isOurs, noteSent } from './outgoing.ts';
import {
  beginOf,
  type Effects,
  effectsOf,
  hashOf,
  hasSucceeded,
  hasTwice,
  infoOf,
  infosOf,
  listOf,
  malformed,
  membersOf,
  readTransaction,
  type SentTransaction,
  transactionsOf,
} from './sent-block.ts';
import { AFTER_41, InexactAmount, isPrefixed, spelledAt } from './sent-values.ts';

export type TronBlockRules = MoneyRules & {
  readonly unrecognisedLimit: number;
  /** Address keys; see `ChainReader.scan`. */
  readonly naming?: readonly AddressKey[] | undefined;
  /** The height that was asked for; unset means whatever the head is. */
  readonly expected?: number | undefined;
};

/**
 * A successful call of the token itself that pays a watched address, or that one of our wallets sent, and of
 * which no log tells.
 */
export type LoglessTransfer = { readonly txHash: string; readonly to: string; readonly paysUs: boolean };

/** A block of Tron, with what decides how it is read again. */
export type TronBlock = ScannedBlock & {
  /** The block has transactions that concern us. */
  readonly touches: boolean;
  /**
   * Those transactions, in no order: our money moves in them, one of our wallets sent them, or they succeeded
   * and their input names a watched address.
   */
  readonly touching: ReadonlySet<string>;
  /** It shows an internal transaction, of whatever kind: its endpoint saves them. */
  readonly showsInternals: boolean;
  /**
   * Present where there are some: either the endpoint left logs out, which nothing else tells, since infos
   * have no bloom, or the token moved nothing and said nothing. Another endpoint has to be asked which.
   */
  readonly logless?: readonly LoglessTransfer[];
};

/**
 * Finds what a block brought to our addresses. Credited: more than zero, in a successful transaction, from
 * a sender that is not ours; as TRX in a `TransferContract` or passed on by code, or as a Transfer log of
 * exactly the token contract, whoever called it. Other tokens are recorded, never credited; TRC-10 is
 * neither. What leaves our wallets is told as well. Undefined where the endpoint does not have the block or
 * its infos (yet). Throws EndpointFailure where they do not belong together, something is missing or shown
 * twice, or an amount is not exact. Where both were read by `parseTronJson`, amounts beyond 2^53 are exact
 * too.
 */
export function readTronBlock(block: unknown, infos: unknown, rules: TronBlockRules): TronBlock | undefined {
  try {
    return readSent(block, infos, rules);
  } catch (error) {
    if (!(error instanceof InexactAmount)) throw error;
    return readSent(exactly(block), exactly(infos), rules);
  }
}

function readSent(block: unknown, infos: unknown, rules: TronBlockRules): TronBlock | undefined {
  const ref = readTronHeader(block, rules.expected);
  if (!ref) return undefined;
  const reading = new Reading(ref, rules);
  // No info exists of the genesis block, and what it lists are no transfers: nothing in it succeeded.
  if (ref.number === 0) return reading.result();
  const transactions = transactionsOf(ref, block);
  if (isNothing(infos) || (Array.isArray(infos) && infos.length === 0 && transactions.length > 0))
    return undefined;
  const list = infosOf(ref, infos, transactions.length);
  for (let at = 0; at < list.length; at++) reading.add(transactions[at], list[at]);
  return reading.result();
}

/** What is known of a block while its transactions are read, one after the other. */
class Reading {
  readonly #ref: BlockRef;
  readonly #rules: TronBlockRules;
  readonly #watched: AddressLookup;
  readonly #found: Collector;
  readonly #transactions: SentTransaction[] = [];
  readonly #begins: number[] = [];
  readonly #named: NamedTransaction[] = [];
  readonly #naming = new Set<string>();
  readonly #logless: LoglessTransfer[] = [];
  #showsInternals = false;
  /** Code ran that may have passed on TRX. */
  #ranCode = false;

  constructor(ref: BlockRef, rules: TronBlockRules) {
    this.#ref = ref;
    this.#rules = rules;
    this.#watched = rules.watched;
    this.#found = new Collector('tron', rules.unrecognisedLimit);
  }

  /** Reads one transaction with its info. */
  add(sent: unknown, sentInfo: unknown): void {
    const transaction = readTransaction(sent);
    const info = infoOf(this.#ref, transaction, sentInfo);
    this.#transactions.push(transaction);
    this.#begins.push(beginOf(transaction));
    const internals = listOf(info['internal_transactions']);
    if (internals.length > 0) this.#showsInternals = true;
    const effects = effectsOf(transaction, info, internals);
    const isSentByUs = isOurs(transaction, this.#watched);
    if (isSentByUs) noteSent(this.#found.outgoing, transaction, info);
    if (transaction.type === 'TransferContract') this.#readPlain(transaction);
    if (!effects) return;
    this.#ranCode = true;
    creditLogs(this.#found, transaction, effects.logs, this.#rules);
    creditInternals(this.#found, transaction, internals, this.#watched);
    if (transaction.type === 'TriggerSmartContract') this.#readCall(transaction, effects, isSentByUs);
    if (transaction.type === 'CreateSmartContract') this.#readCreation(transaction);
  }

  /** One that failed is in no valid block, so one to us that says so is looked at again as a whole. */
  #readPlain(transaction: SentTransaction): void {
    creditPlain(this.#found, transaction, this.#watched);
    if (hasSucceeded(transaction)) return;
    const { to_address: to } = membersOf(transaction.value);
    if (isPrefixed(to) && this.#watched.has(to, AFTER_41)) this.#naming.add(hashOf(transaction));
  }

  #readCall(transaction: SentTransaction, { logs }: Effects, isSentByUs: boolean): void {
    const { data = '', contract_address: contract } = membersOf(transaction.value);
    // Code runs only at an address with 41 in front. Spelled otherwise, the token would not be known.
    if (typeof data !== 'string' || !isPrefixed(contract)) throw malformed();
    this.#noteNamed(transaction, data);
    const isNamed = namesWatched(data, this.#watched);
    if (!isNamed && !isSentByUs) return;
    const txHash = hashOf(transaction);
    if (isNamed) this.#naming.add(txHash);
    if (contract.slice(AFTER_41).toLowerCase() !== this.#rules.token) return;
    const payee = payeeIn(data);
    const paysUs = payee !== undefined && this.#watched.has(payee, 0);
    if (payee !== undefined && (paysUs || isSentByUs) && !isLogged(payee, logs, this.#rules.token))
      this.#logless.push({ txHash, to: spelledAt(payee, 0), paysUs });
  }

  #readCreation(transaction: SentTransaction): void {
    const { bytecode = '' } = membersOf(membersOf(transaction.value)['new_contract'] ?? {});
    if (typeof bytecode !== 'string') throw malformed();
    this.#noteNamed(transaction, bytecode);
    if (constructorNamesWatched(bytecode, this.#watched)) this.#naming.add(hashOf(transaction));
  }

  #noteNamed(transaction: SentTransaction, data: string): void {
    const { naming } = this.#rules;
    if (naming) noteNamed(this.#named, { txHash: hashOf(transaction), data }, naming);
  }

  /** Throws EndpointFailure where a transaction was shown twice: its money would be summed. */
  result(): TronBlock {
    const transfers = this.#found.transfers();
    const own = this.#found.own();
    const outgoing = this.#found.outgoing.result();
    const { sent = [] } = outgoing;
    const touching = new Set(this.#naming);
    for (const { txHash } of [...transfers, ...own, ...sent]) touching.add(txHash);
    if (hasTwice(this.#transactions, this.#begins))
      throw new EndpointFailure(`block ${this.#ref.number} shows a transaction twice`);
    // Whether the node saves them is said nowhere, and behind one address some may and others not.
    const isUntraced = this.#ranCode && !this.#showsInternals;
    return {
      ...this.#ref,
      transfers,
      unrecognised: this.#found.unrecognised,
      unrecognisedDropped: this.#found.dropped,
      ...(own.length > 0 ? { own } : {}),
      ...outgoing,
      ...(this.#found.fundsGas ? { fundsGas: true } : {}),
      ...(isUntraced ? { untraced: { succeeded: this.#succeeded() } } : {}),
      ...(this.#rules.naming ? { named: this.#named } : {}),
      touches: touching.size > 0,
      touching,
      showsInternals: this.#showsInternals,
      ...(this.#logless.length > 0 ? { logless: this.#logless } : {}),
    };
  }

  #succeeded(): ReadonlySet<string> {
    return new Set(this.#transactions.filter(hasSucceeded).map(({ id }) => id));
  }
}
