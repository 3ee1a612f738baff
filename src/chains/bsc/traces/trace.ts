// Money that contracts pass on inside a transaction. It leaves no log, so only a node's call trace shows it.

import type { AddressLookup } from '../../reader.ts';
import { isRecord } from '../../rpc/call.ts';
import { EndpointFailure } from '../../rpc/errors.ts';
import { readHash } from '../../rpc/hex.ts';

/**
 * One movement of the native coin below the top of a transaction, to a watched address or out of a wallet of
 * ours. Lower-case addresses.
 */
export type InternalTransfer = {
  readonly txHash: string;
  readonly from: string;
  readonly to: string;
  readonly amountUnits: bigint;
};

/** What a trace has to belong to: the block's hash and its transactions in order. */
export type TracedBlock = {
  readonly hash: string;
  readonly transactions: readonly { readonly hash: string }[];
};

type Frame = {
  type?: unknown;
  from?: unknown;
  to?: unknown;
  value?: unknown;
  error?: unknown;
  calls?: unknown;
};

/** DELEGATECALL and CALLCODE frames print a value too, although nothing moves: only these four move money. */
const MOVING = new Set(['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT']);
/** The EVM's own limit of nested calls; a deeper tree is no trace. */
const MAX_DEPTH = 1_024;

/**
 * Reads the answer of debug_traceBlockByHash with the callTracer: every frame but
 * the top one (that is the plain transfer), nothing below a frame that failed.
 * Throws EndpointFailure when it is not the trace of exactly these transactions.
 */
export function readCallTracer(
  block: TracedBlock,
  traces: unknown,
  watched: AddressLookup,
): InternalTransfer[] {
  const { transactions } = block;
  if (!Array.isArray(traces) || traces.length !== transactions.length)
    throw new EndpointFailure('a trace that does not cover its block');
  const found: InternalTransfer[] = [];
  transactions.forEach(({ hash }, index) => {
    const entry: unknown = traces[index];
    const named = isRecord(entry) ? entry['txHash'] : undefined;
    if (!isRecord(entry) || !isRecord(entry['result']) || (named !== undefined && readHash(named) !== hash))
      throw new EndpointFailure('a trace of another transaction, or none');
    walk(entry['result'], 0, (frame) => {
      if (MOVING.has(String(frame.type))) collect(found, hash, frame, watched);
    });
  });
  return found;
}

function walk(frame: Frame, depth: number, visit: (frame: Frame) => void): void {
  if (frame.error !== undefined) return;
  if (depth > 0) visit(frame);
  if (frame.calls === undefined) return;
  if (!Array.isArray(frame.calls) || depth > MAX_DEPTH) throw new EndpointFailure('a malformed trace');
  for (const call of frame.calls) {
    if (!isRecord(call)) throw new EndpointFailure('a malformed trace');
    walk(call, depth + 1, visit);
  }
}

/**
 * Reads the answer of trace_block (Parity's flat form, which most archive nodes offer and
 * which costs far less than the callTracer). The same rules as {@link readCallTracer}.
 */
export function readTraceBlock(
  block: TracedBlock,
  traces: unknown,
  watched: AddressLookup,
): InternalTransfer[] {
  if (!Array.isArray(traces)) throw new EndpointFailure('no trace');
  const found: InternalTransfer[] = [];
  let roots = 0;
  let failed: number[][] = [];
  let paid = new Set<string>();
  for (const trace of traces as unknown[]) {
    if (!isRecord(trace) || !isRecord(trace['action'])) throw new EndpointFailure('a malformed trace');
    if (trace['type'] === 'reward') continue;
    const { traceAddress: at } = trace;
    const hash = readHash(trace['transactionHash']);
    if (readHash(trace['blockHash']) !== block.hash || !Array.isArray(at))
      throw new EndpointFailure('a trace of another block');
    if (at.length === 0) {
      failed = [];
      paid = new Set();
      roots++;
    }
    if (hash === undefined || block.transactions[roots - 1]?.hash !== hash)
      throw new EndpointFailure('a trace of another transaction, or none');
    if (trace['error'] != null) failed.push(at);
    if (at.length === 0 || failed.some((parent) => parent.every((step, index) => at[index] === step)))
      continue;
    const frame = flatFrame(trace, trace['action']);
    if (!frame || !collect(found, hash, frame, watched)) continue;
    // The place in the tree of calls tells a second, equal call from the same call shown twice.
    const place = at.join();
    if (paid.has(place)) throw new EndpointFailure('a trace that shows a call twice');
    paid.add(place);
  }
  if (roots !== block.transactions.length) throw new EndpointFailure('a trace that does not cover its block');
  return found;
}

function flatFrame(trace: Record<string, unknown>, action: Record<string, unknown>): Frame | undefined {
  if (trace['type'] === 'suicide')
    return { from: action['address'], to: action['refundAddress'], value: action['balance'] };
  if (trace['type'] === 'create') {
    const result = isRecord(trace['result']) ? trace['result'] : {};
    return { from: action['from'], to: result['address'], value: action['value'] };
  }
  return trace['type'] === 'call' && action['callType'] === 'call' ? (action as Frame) : undefined;
}

/** Returns whether the frame moved money to a watched address or out of a wallet of ours. */
function collect(found: InternalTransfer[], txHash: string, frame: Frame, watched: AddressLookup): boolean {
  const { from, to, value } = frame;
  if (value === undefined || value === '0x0') return false;
  const arrives = typeof to === 'string' && watched.has(to, 2);
  if (!arrives && !(typeof from === 'string' && watched.isOwn(from, 2))) return false;
  if (
    typeof to !== 'string' ||
    typeof from !== 'string' ||
    typeof value !== 'string' ||
    !/^0x[0-9a-f]{1,64}$/i.test(value)
  )
    throw new EndpointFailure('a malformed trace');
  const amountUnits = BigInt(value);
  if (amountUnits > 0n) found.push({ txHash, from: from.toLowerCase(), to: to.toLowerCase(), amountUnits });
  return amountUnits > 0n;
}
