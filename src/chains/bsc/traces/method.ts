// The methods by which nodes show internal transfers, and which of them an
// endpoint has, found out by asking it.

import type { AddressLookup } from '../../reader.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure, RpcRejected } from '../../rpc/errors.ts';
import { readHash } from '../../rpc/hex.ts';
import type { RpcSession } from '../../rpc/json-rpc.ts';
import { type InternalTransfer, readCallTracer, readTraceBlock, type TracedBlock } from './trace.ts';

type Method = 'trace_block' | 'debug_traceBlockByHash';
/** `certain`: the endpoint said so itself, and did not just fail to answer. */
export type ShownBy = { readonly method: Method | null; readonly certain: boolean };
export type NumberedBlock = TracedBlock & { readonly number: number };

/** Cheapest first: the callTracer of a whole block costs some nodes seconds. */
const METHODS: readonly Method[] = ['trace_block', 'debug_traceBlockByHash'];
const PROBED_BLOCKS = 4;

/**
 * How an endpoint shows internal transfers; null when it does not. Throws
 * EndpointFailure when it does not say.
 */
export async function traceMethodOf(session: RpcSession, timeoutMs = 4_000): Promise<string | null> {
  const { method, certain } = await probe(session, timeoutMs);
  if (!certain)
    throw new EndpointFailure('asks for fewer requests, so that it did not say', { throttled: true });
  return method;
}

/**
 * The internal transfers of a block to watched addresses, by this method. Throws EndpointFailure or
 * RpcRejected where the endpoint refuses it, or sends something that is no trace of this very block.
 */
export async function traceOn(
  session: RpcSession,
  method: Method,
  block: NumberedBlock,
  watched: AddressLookup,
  timeoutMs: number,
): Promise<InternalTransfer[]> {
  if (method === 'trace_block')
    return readTraceBlock(
      block,
      await session.call(method, [`0x${block.number.toString(16)}`], { timeoutMs }),
      watched,
    );
  return readCallTracer(
    block,
    await session.call(method, [block.hash, { tracer: 'callTracer' }], { timeoutMs }),
    watched,
  );
}

const NOBODY: AddressLookup = { has: () => false, isOwn: () => false };

/**
 * Traces the smallest of the newest blocks with each method in turn.
 * Throws only when the endpoint does not even give these blocks.
 */
export async function probe(session: RpcSession, timeoutMs: number): Promise<ShownBy> {
  const block = await smallBlock(session);
  let certain = true;
  for (const method of METHODS) {
    try {
      await traceOn(session, method, block, NOBODY, timeoutMs);
      return { method, certain: true };
    } catch (error) {
      // A refusal, a page of HTML, a malformed trace: all say that traces are not offered. A refusal
      // for the number of requests says nothing about it.
      if (!isEndpoints(error)) throw error;
      if (isThrottled(error)) certain = false;
    }
  }
  return { method: null, certain };
}

async function smallBlock(session: RpcSession): Promise<NumberedBlock> {
  let best: NumberedBlock | undefined;
  let wanted = 'latest';
  for (let tries = 0; tries < PROBED_BLOCKS; tries++) {
    const block = await session.call('eth_getBlockByNumber', [wanted, false]);
    const hash = isRecord(block) ? readHash(block['hash']) : undefined;
    if (!isRecord(block) || hash === undefined || !Array.isArray(block['transactions'])) break;
    const number = Number.parseInt(String(block['number']), 16);
    const found = {
      number,
      hash,
      transactions: block['transactions'].map((one) => ({ hash: String(one).toLowerCase() })),
    };
    const smaller =
      found.transactions.length > 0 &&
      found.transactions.length < (best?.transactions.length ?? Number.POSITIVE_INFINITY);
    if (!best || smaller || best.transactions.length === 0) best = found;
    if (!(number > 0)) break;
    wanted = `0x${(number - 1).toString(16)}`;
  }
  if (!best) throw new EndpointFailure('no block to try a trace on');
  return best;
}

/** True for a refusal for the number of requests, which says nothing about what the endpoint offers. */
export function isThrottled(error: EndpointFailure | RpcRejected): error is EndpointFailure {
  return error instanceof EndpointFailure && error.throttled;
}

/** True for an error that is the fault of an endpoint, or its refusal. */
export function isEndpoints(error: unknown): error is EndpointFailure | RpcRejected {
  return error instanceof EndpointFailure || error instanceof RpcRejected;
}
