import { setTimeout as sleep } from 'node:timers/promises';
import { keccak256 } from 'ethers';
import type { Answer, Fault, RpcCall } from '../../../dev/support/fault-proxy.ts';
import { BLOCK_FAULTS } from '../../../dev/support/faults.ts';
import type { EndpointFault } from './names.ts';

const STALE_BLOCKS = 4;
const SLOW_MS = 1_500;
/** Far above what the gateway pays, in wei. */
const DEAR = '0x174876e800';

type Reply = { id: unknown; result?: unknown; error?: unknown };

async function ask(target: string, call: RpcCall): Promise<Reply> {
  const reply = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: call.id, method: call.method, params: call.params }),
  });
  return (await reply.json()) as Reply;
}

/** An endpoint some blocks behind the others: it knows neither the newest blocks nor their finality. */
async function stale(target: string, call: RpcCall): Promise<Answer | undefined> {
  if (call.method !== 'eth_getBlockByNumber' && call.method !== 'eth_blockNumber') return undefined;
  const head =
    Number.parseInt(
      String((await ask(target, { id: 1, method: 'eth_blockNumber', params: [] })).result),
      16,
    ) - STALE_BLOCKS;
  if (call.method === 'eth_blockNumber')
    return { json: { jsonrpc: '2.0', id: call.id, result: `0x${head.toString(16)}` } };
  const [wanted, full] = call.params;
  if (wanted === 'latest')
    return { json: await ask(target, { ...call, params: [`0x${head.toString(16)}`, full] }) };
  if (typeof wanted === 'string' && wanted.startsWith('0x') && Number.parseInt(wanted, 16) > head)
    return { json: { jsonrpc: '2.0', id: call.id, result: null } };
  return undefined;
}

const TRACES = [
  'trace_block',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
];

/**
 * A fault of the traces alone: blocks and receipts stay right, and what contracts pass on is no longer shown.
 */
function ofTraces(answer: (call: RpcCall, real: () => Promise<Reply>) => Promise<Answer> | Answer): Fault {
  return (call, forward) => (TRACES.includes(call.method) ? answer(call, forward) : undefined);
}

const json = (call: RpcCall, more: object): Answer => ({ json: { jsonrpc: '2.0', id: call.id, ...more } });

function shortened(result: unknown): unknown {
  return Array.isArray(result) ? result.slice(0, -1) : result;
}

function ofAnother(result: unknown): unknown {
  const other = `0x${'ab'.repeat(32)}`;
  return Array.isArray(result)
    ? result.map((entry) => ({ ...entry, txHash: other, transactionHash: other, blockHash: other }))
    : result;
}

/** A fault of one method alone. */
function ofMethods(methods: readonly string[], answer: (call: RpcCall) => Answer): Fault {
  return (call) => (methods.includes(call.method) ? answer(call) : undefined);
}

const SENDING = 'eth_sendRawTransaction';
const refusing = (message: string): Fault =>
  ofMethods([SENDING], (call) => json(call, { error: { code: -32000, message } }));

/** What an endpoint does with transactions that it should pass on, and with questions about them. */
function sendingFault(name: EndpointFault): Fault | undefined {
  switch (name) {
    case 'broadcast_swallowed':
      return ofMethods([SENDING], (call) => json(call, { result: keccak256(String(call.params[0])) }));
    case 'broadcast_unanswered':
      return async (call, forward) => {
        if (call.method !== SENDING) return undefined;
        await forward();
        return 'reset';
      };
    case 'broadcast_known':
      return refusing('already known');
    case 'broadcast_too_low':
      return refusing('nonce too low');
    case 'gas_price_zero':
      return ofMethods(['eth_gasPrice'], (call) => json(call, { result: '0x0' }));
    case 'gas_price_dear':
      return ofMethods(['eth_gasPrice'], (call) => json(call, { result: DEAR }));
    case 'trial_refused':
      return ofMethods(['eth_call', 'eth_estimateGas'], (call) =>
        json(call, { error: { code: 3, message: 'execution reverted: no' } }),
      );
    default:
      return undefined;
  }
}

/**
 * How a public endpoint misbehaves, as a decision about one call.
 * `target` is the real node. Throws for a name that is no fault.
 */
export function rpcFault(name: string, target: string): Fault {
  const listed = BLOCK_FAULTS.find(([known]) => known === name);
  if (listed) return listed[2];
  const sending = sendingFault(name as EndpointFault);
  if (sending) return sending;
  switch (name as EndpointFault) {
    case 'slow':
      return async () => {
        await sleep(SLOW_MS);
        return undefined;
      };
    case 'stale_head':
      return (call) => stale(target, call);
    case 'missing_block':
      return (call) =>
        call.method === 'eth_getBlockByNumber' && call.params[1] === true
          ? json(call, { result: null })
          : undefined;
    case 'not_yet_final':
      return (call) =>
        call.method === 'eth_getBlockByNumber' && call.params[0] === 'finalized'
          ? json(call, { result: null })
          : undefined;
    case 'accepts_and_resets':
      return async (_call, forward): Promise<Answer> => {
        await forward();
        return 'reset';
      };
    case 'trace_unknown':
      return ofTraces((call) =>
        json(call, { error: { code: -32601, message: 'the method does not exist' } }),
      );
    case 'trace_refused':
      return ofTraces((call) =>
        json(call, { error: { code: -32000, message: 'historical state is not available' } }),
      );
    case 'trace_hang':
      return ofTraces(() => 'hang');
    case 'trace_null':
      return ofTraces((call) => json(call, { result: null }));
    case 'trace_empty':
      return ofTraces((call) => json(call, { result: [] }));
    case 'trace_cut':
      return ofTraces(async (call, real) => json(call, { result: shortened((await real()).result) }));
    case 'trace_of_another':
      return ofTraces(async (call, real) => json(call, { result: ofAnother((await real()).result) }));
    case 'trace_html':
      return ofTraces(() => ({ status: 200, body: '<html>upgrade your plan</html>' }));
    default:
      throw new Error(`no fault is called ${name}`);
  }
}
