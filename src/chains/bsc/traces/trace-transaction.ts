// What contracts passed on inside one transaction: the proof that an
// operator's claim asks for where no endpoint gave the block's trace.

import type { AddressLookup } from '../../reader.ts';
import { EndpointFailure, RpcRejected } from '../../rpc/errors.ts';
import type { RpcSession } from '../../rpc/json-rpc.ts';
import { type InternalTransfer, readCallTracer, readTraceBlock, type TracedBlock } from './trace.ts';

/**
 * A single transaction costs a node far less than its block, but
 * an archive node may have to find the state of that time first.
 */
const TIMEOUT_MS = 10_000;

/**
 * The internal transfers of one transaction of a block to watched addresses, or undefined where this endpoint
 * does not show them. The block has to come from this same endpoint; a flat trace names its block and is
 * compared with it. Throws every error that is no fault of the endpoint.
 */
export async function traceTransactionOn(
  session: RpcSession,
  block: Pick<TracedBlock, 'hash'>,
  txHash: string,
  watched: AddressLookup,
): Promise<InternalTransfer[] | undefined> {
  const alone: TracedBlock = { hash: block.hash, transactions: [{ hash: txHash }] };
  const ask = (method: string, ...more: unknown[]) =>
    session.call(method, [txHash, ...more], { timeoutMs: TIMEOUT_MS });
  return (
    (await unlessRefused(async () => readTraceBlock(alone, await ask('trace_transaction'), watched))) ??
    (await unlessRefused(async () => {
      const result = await ask('debug_traceTransaction', { tracer: 'callTracer' });
      return readCallTracer(alone, [{ txHash, result }], watched);
    }))
  );
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EndpointFailure || error instanceof RpcRejected) return undefined;
    throw error;
  }
}
