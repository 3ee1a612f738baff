import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Fault, RpcCall } from '../../test/support/fault-proxy.ts';
import type { RpcFault } from './plan.ts';

const STALE_BLOCKS = 4;
const SLOW_MS = 1_500;

type Block = { number: string; transactions: unknown[] } | null;
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
  const head = Number.parseInt(String((await ask(target, { id: 1, method: 'eth_blockNumber', params: [] })).result), 16) - STALE_BLOCKS;
  if (call.method === 'eth_blockNumber') return { json: { jsonrpc: '2.0', id: call.id, result: `0x${head.toString(16)}` } };
  const [wanted, full] = call.params;
  if (wanted === 'latest') return { json: await ask(target, { ...call, params: [`0x${head.toString(16)}`, full] }) };
  if (typeof wanted === 'string' && wanted.startsWith('0x') && Number.parseInt(wanted, 16) > head)
    return { json: { jsonrpc: '2.0', id: call.id, result: null } };
  return undefined;
}

/** How a public endpoint misbehaves, as a decision about one call. `target` is the real node. */
export function rpcFault(kind: RpcFault, target: string): Fault {
  const json = (call: RpcCall, more: object): Answer => ({ json: { jsonrpc: '2.0', id: call.id, ...more } });
  const receipts = async (call: RpcCall, change: (list: { logs: unknown[] }[]) => unknown): Promise<Answer | undefined> => {
    if (call.method !== 'eth_getBlockReceipts') return undefined;
    const { result } = await ask(target, call);
    return Array.isArray(result) ? json(call, { result: change(result) }) : undefined;
  };
  switch (kind) {
    case 'hang':
      return () => 'hang';
    case 'reset':
      return () => 'reset';
    case 'status_500':
      return () => ({ status: 500, body: 'internal error' });
    case 'status_429':
      return () => ({ status: 429, body: 'too many requests', headers: { 'retry-after': '1' } });
    case 'limit_error':
      return (call) => json(call, { error: { code: -32005, message: 'limit exceeded' } });
    case 'html':
      return () => ({ status: 200, body: '<html>maintenance</html>' });
    case 'slow':
      return async () => {
        await sleep(SLOW_MS);
        return undefined;
      };
    case 'stale_head':
      return (call) => stale(target, call);
    case 'missing_receipt':
      return (call) => receipts(call, (list) => list.slice(0, -1));
    case 'missing_logs':
      return (call) => receipts(call, (list) => list.map((receipt) => ({ ...receipt, logs: [] })));
    case 'missing_block':
      return async (call) => {
        if (call.method !== 'eth_getBlockByNumber' || call.params[1] !== true) return undefined;
        return json(call, { result: null satisfies Block });
      };
    case 'wrong_chain':
      return (call) => (call.method === 'eth_chainId' ? json(call, { result: '0x61' }) : 'reset');
  }
}
