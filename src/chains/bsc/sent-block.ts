// A block, its transactions and receipts in the shape in which nodes send them, and the checks that
// they pass before anything else is read from them.

import type { BlockRef } from '../reader.ts';
import { isRecord } from '../rpc/call.ts';
import { EndpointFailure } from '../rpc/errors.ts';
import { isSame, lower, readHash, readQuantity } from '../rpc/hex.ts';

/** The root of an empty trie: what a block without transactions names as its transactions root. */
const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';

/** In a padded topic the address starts after 0x and 12 zero bytes. */
export const TOPIC_ADDRESS = 26;

export type RpcTransaction = {
  hash: string;
  from: string;
  to: string | null;
  value: string;
  input?: string;
  nonce?: unknown;
  type?: unknown;
  authorizationList?: unknown;
};
export type RpcLog = {
  address: string;
  topics: string[];
  data: string;
  removed?: boolean;
  logIndex?: unknown;
  transactionHash?: unknown;
  blockHash?: unknown;
};
export type RpcReceipt = {
  transactionHash: string;
  blockHash: string;
  status: string;
  logs: RpcLog[];
  logsBloom?: string;
  from?: unknown;
  contractAddress?: unknown;
  gasUsed?: unknown;
  effectiveGasPrice?: unknown;
  blobGasUsed?: unknown;
  blobGasPrice?: unknown;
};
export type RpcBlock = {
  hash: string;
  logsBloom?: string;
  transactionsRoot?: string;
  transactions: RpcTransaction[];
};

/**
 * Reads number, hashes and time of a block or header; throws EndpointFailure when they
 * are missing or of another height. BNB Chain keeps the milliseconds of its sub-second
 * blocks in the otherwise unused mixHash; on other EVM chains mixHash is random.
 */
export function readBlockRef(block: unknown, expected?: number): BlockRef {
  if (!isRecord(block)) throw new EndpointFailure('a block that is no object');
  const number = readQuantity(block['number']);
  const seconds = readQuantity(block['timestamp']);
  const [hash, parentHash, mixHash] = [
    readHash(block['hash']),
    readHash(block['parentHash']),
    readHash(block['mixHash']),
  ];
  if (number === undefined || seconds === undefined || hash === undefined || parentHash === undefined)
    throw new EndpointFailure('a block without number, time or hashes');
  if (expected !== undefined && number !== expected)
    throw new EndpointFailure(`block ${number} in answer to ${expected}`);
  const fraction =
    mixHash !== undefined && /^0x0{61}/.test(mixHash) ? Number.parseInt(mixHash.slice(-3), 16) : 0;
  return { number, hash, parentHash, timestampMs: seconds * 1000 + (fraction < 1000 ? fraction : 0) };
}

/**
 * The transactions of a block asked for with full transactions; throws EndpointFailure
 * when they cannot be all of them, each once.
 */
export function readBlockBody(block: unknown): RpcBlock {
  if (!isRecord(block) || !Array.isArray(block['transactions']))
    throw new EndpointFailure('a block without its transactions');
  const body = block as RpcBlock;
  if (
    body.transactions.length === 0 &&
    body.transactionsRoot !== undefined &&
    lower(body.transactionsRoot) !== EMPTY_ROOT
  ) {
    throw new EndpointFailure('a block whose transactions are missing');
  }
  for (const transaction of body.transactions)
    if (typeof transaction?.hash === 'string') transaction.hash = lower(transaction.hash);
  // Shown twice, its money would be summed.
  if (new Set(body.transactions.map((transaction) => transaction?.hash)).size < body.transactions.length)
    throw new EndpointFailure('a block that shows a transaction twice');
  return body;
}

/** Throws EndpointFailure unless the receipt is whole and belongs to this transaction of this block. */
export function checkReceipt(ref: BlockRef, transaction: RpcTransaction, receipt: RpcReceipt): void {
  const complete =
    typeof transaction?.value === 'string' &&
    isStatus(receipt?.status) &&
    typeof receipt.transactionHash === 'string' &&
    typeof receipt.blockHash === 'string' &&
    Array.isArray(receipt.logs) &&
    isSame(receipt.transactionHash, transaction.hash) &&
    isSame(receipt.blockHash, ref.hash);
  if (!complete)
    throw new EndpointFailure(
      `incomplete block ${ref.number}: a receipt that belongs to another block or transaction`,
    );
}

/**
 * The hash of a transaction that concerns us. Throws EndpointFailure for text that is none: it could be
 * written nowhere, and the chain would wait behind its block.
 */
export function hashOf(transaction: RpcTransaction): string {
  const hash = readHash(transaction.hash);
  if (hash === undefined) throw new EndpointFailure('a transaction whose hash is none');
  return hash;
}

/** True for a transaction that the chain carried out; one that failed moved nothing. */
export function hasSucceeded({ status }: RpcReceipt): boolean {
  return status === '0x1' || readQuantity(status) === 1;
}

/** True for 0x0 and 0x1: any other value says neither that the transaction succeeded nor that it failed. */
function isStatus(status: unknown): boolean {
  if (status === '0x1' || status === '0x0') return true;
  const known = readQuantity(status);
  return known === 1 || known === 0;
}
