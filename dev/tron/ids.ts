// How Tron names its transactions and blocks: hashes over their bytes.
import { createHash } from 'node:crypto';
import { writeField, writePresent } from './proto.ts';

export const NO_TRANSACTIONS = '0'.repeat(64);
/** What the result of a transaction is called, each at its number on the wire. */
const RESULTS = [
  'DEFAULT',
  'SUCCESS',
  'REVERT',
  'BAD_JUMP_DESTINATION',
  'OUT_OF_MEMORY',
  'PRECOMPILED_CONTRACT',
  'STACK_TOO_SMALL',
  'STACK_TOO_LARGE',
  'ILLEGAL_OPERATION',
  'STACK_OVERFLOW',
  'OUT_OF_ENERGY',
  'OUT_OF_TIME',
  'JVM_STACK_OVER_FLOW',
  'UNKNOWN',
  'TRANSFER_FAILED',
  'INVALID_CODE',
] as const;
export type Result = (typeof RESULTS)[number];

/** The hash of these parts, one behind the other. */
export function sha256(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** A whole transaction as it stands in a block; without `result` as it is broadcast. */
export function transactionBytes(raw: Buffer, signatures: readonly string[], result?: Result): Buffer {
  const signed = signatures.map((signature) => writePresent(2, Buffer.from(signature, 'hex')));
  const returned = result && writeField(3, BigInt(RESULTS.indexOf(result)));
  return Buffer.concat([writePresent(1, raw), ...signed, ...(returned ? [writePresent(5, returned)] : [])]);
}

/** The root over the transactions of a block, each as {@link transactionBytes}. */
export function transactionRoot(transactions: readonly Buffer[]): string {
  let hashes = transactions.map((bytes) => sha256(bytes));
  while (hashes.length > 1) {
    const pairs = Array.from({ length: Math.ceil(hashes.length / 2) }, (_, at) =>
      hashes.slice(2 * at, 2 * at + 2),
    );
    // One without a partner goes up as it is.
    hashes = pairs.map((pair) => (pair.length === 1 ? (pair[0] as Buffer) : sha256(...pair)));
  }
  return hashes[0]?.toString('hex') ?? NO_TRANSACTIONS;
}

export type Header = {
  readonly number: number;
  readonly timestampMs: number;
  readonly root: string;
  readonly parentHash: string;
  /** Hex with 41; of the first block a sentence. */
  readonly witness: string;
  readonly version: number;
};

/** The bytes of a header, whose hash its witness signs. */
export function headerBytes({ number, timestampMs, root, parentHash, witness, version }: Header): Buffer {
  return Buffer.concat([
    writeField(1, BigInt(timestampMs)),
    writeField(2, Buffer.from(root, 'hex')),
    writeField(3, Buffer.from(parentHash, 'hex')),
    writeField(7, BigInt(number)),
    writeField(9, Buffer.from(witness, 'hex')),
    writeField(10, BigInt(version)),
  ]);
}

/** The id of a block: its height, then what is left of the hash of its header. */
export function blockId(header: Header): string {
  return header.number.toString(16).padStart(16, '0') + sha256(headerBytes(header)).toString('hex').slice(16);
}
