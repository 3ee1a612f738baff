// The header of a block, as a node of Tron sends it.
import type { BlockRef } from '../../reader.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { readId } from './sent-values.ts';

/** The part of an id that is the height, in hex digits. */
const HEIGHT_DIGITS = 16;
/** The latest time that a Date can hold. */
const MAX_TIME_MS = 8_640_000_000_000_000;

/** Nodes answer `{}` to whatever they do not have (yet). */
export function isNothing(sent: unknown): boolean {
  return isRecord(sent) && Object.keys(sent).length === 0;
}

/**
 * Height, ids and time of a block, asked for with or without its transactions; undefined for `{}`.
 * Throws EndpointFailure where they are missing, do not fit together or belong to another height
 * than `expected`. The genesis block comes without height and time: both are zero.
 */
export function readTronHeader(block: unknown, expected?: number): BlockRef | undefined {
  if (isNothing(block)) return undefined;
  const raw = rawHeader(block);
  const hash = readId(isRecord(block) ? block['blockID'] : undefined);
  const parentHash = readId(raw['parentHash']);
  const number = raw['number'] ?? 0;
  const isGenesis = number === 0;
  const timestampMs = raw['timestamp'] ?? (isGenesis ? 0 : undefined);
  if (hash === undefined || parentHash === undefined || !isWhole(number) || !isWhole(timestampMs))
    throw new EndpointFailure('a block without number, time or ids');
  if (timestampMs > MAX_TIME_MS) throw new EndpointFailure(`block ${number} at an impossible time`);
  if (!beginsWith(hash, number) || !beginsWith(parentHash, isGenesis ? 0 : number - 1))
    throw new EndpointFailure(`block ${number} with the id of another height`);
  if (expected !== undefined && number !== expected)
    throw new EndpointFailure(`block ${number} in answer to ${expected}`);
  return { number, hash, parentHash, timestampMs };
}

/** The signed part of the header. Throws EndpointFailure where there is none. */
export function rawHeader(block: unknown): Record<string, unknown> {
  const header = isRecord(block) ? block['block_header'] : undefined;
  const raw = isRecord(header) ? header['raw_data'] : undefined;
  if (!isRecord(raw)) throw new EndpointFailure('a block without its header');
  return raw;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function beginsWith(id: string, number: number): boolean {
  return id.startsWith(number.toString(16).padStart(HEIGHT_DIGITS, '0'));
}
