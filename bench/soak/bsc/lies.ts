import type { Answer, Fault, RpcCall } from '../../../dev/support/fault-proxy.ts';
import type { Lie } from './names.ts';

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** How many blocks of its own an endpoint that hangs still gives. */
const REMEMBERED = 12;

type Log = { topics: string[]; data: string };
type Receipt = {
  status: string;
  blockHash: string;
  blockNumber: string;
  logs: Log[];
  logsBloom?: string | undefined;
};
type Block = { number: string; hash: string; logsBloom?: string | undefined };
type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

function asker(target: string): Ask {
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const reply = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return ((await reply.json()) as { result?: unknown }).result;
  };
}

const answer = (call: RpcCall, result: unknown): Answer => ({
  json: { jsonrpc: '2.0', id: call.id, result },
});
const heightOf = (quantity: unknown): number => Number.parseInt(String(quantity), 16);
const isPayment = (log: Log): boolean =>
  log.topics[0] === TRANSFER && /^0x[0-9a-f]{64}$/.test(log.data) && BigInt(log.data) > 0n;

/** A lie as a decision about each call of an endpoint whose node is at `target`. */
export function lie(name: Lie, target: string): Fault {
  const ask = asker(target);
  switch (name) {
    case 'other amounts':
      return ofReceipts(ask, (receipt) => ({
        ...receipt,
        logs: receipt.logs.map((log) =>
          isPayment(log)
            ? { ...log, data: `0x${(BigInt(log.data) * 3n + 1n).toString(16).padStart(64, '0')}` }
            : log,
        ),
      }));
    case 'logs left out':
      return ofReceipts(ask, (receipt) => ({
        ...receipt,
        logs: receipt.logs.filter((log) => !isPayment(log)),
      }));
    case 'logs doubled':
      return ofReceipts(ask, (receipt) => ({
        ...receipt,
        logs: receipt.logs.flatMap((log) => (isPayment(log) ? [log, log] : [log])),
      }));
    case 'everything failed':
      return ofReceipts(ask, (receipt) => ({ ...receipt, status: '0x0', logs: [] }));
    case 'hangs on a replaced tip':
      return stuck(ask, { alsoHead: false });
    case 'hangs on a replaced tip, head and all':
      return stuck(ask, { alsoHead: true });
  }
}

/** Changes the receipts of blocks that are not final, and takes away the blooms that would give it away. */
function ofReceipts(ask: Ask, change: (receipt: Receipt) => Receipt): Fault {
  const finalHeight = async (): Promise<number> =>
    heightOf(((await ask('eth_getBlockByNumber', ['finalized', false])) as Block).number);
  return async (call, forward) => {
    if (call.method !== 'eth_getBlockReceipts' && call.method !== 'eth_getBlockByNumber') return undefined;
    const { result } = await forward();
    const whole =
      call.method === 'eth_getBlockReceipts'
        ? (result as Receipt[] | null)?.[0]?.blockNumber
        : (result as Block | null)?.number;
    if (whole === undefined || heightOf(whole) <= (await finalHeight())) return answer(call, result);
    if (call.method === 'eth_getBlockByNumber')
      return answer(call, { ...(result as Block), logsBloom: undefined });
    return answer(
      call,
      (result as Receipt[]).map((receipt) => ({ ...change(receipt), logsBloom: undefined })),
    );
  };
}

/**
 * An endpoint that stands still where it is: it gives the blocks of that moment,
 * replaced or not, and nothing above them. With `alsoHead` false only bodies are
 * old while head and finality go on, as behind a balancer whose nodes do not agree.
 */
function stuck(ask: Ask, { alsoHead }: { readonly alsoHead: boolean }): Fault {
  const kept = remember(ask);
  return async (call, forward) => {
    const { blocks, receipts, head, finalized } = await kept;
    const [wanted] = call.params;
    if (call.method === 'eth_getBlockReceipts' && receipts.has(String(wanted)))
      return answer(call, receipts.get(String(wanted)));
    if (alsoHead && call.method === 'eth_blockNumber') return answer(call, `0x${head.toString(16)}`);
    if (call.method !== 'eth_getBlockByNumber') return undefined;
    const named = wanted === 'latest' ? head : wanted === 'finalized' ? finalized : heightOf(wanted);
    if (!alsoHead && (wanted === 'latest' || wanted === 'finalized' || call.params[1] !== true))
      return undefined;
    if (named > head) return answer(call, null);
    const block = blocks.get(named);
    if (!block) return { json: await forward() };
    const hashes = block.transactions.map((transaction) => transaction.hash);
    return answer(call, call.params[1] === true ? block : { ...block, transactions: hashes });
  };
}

type Full = Block & { transactions: { hash: string }[] };
type Kept = { blocks: Map<number, Full>; receipts: Map<string, unknown>; head: number; finalized: number };

async function remember(ask: Ask): Promise<Kept> {
  const head = heightOf(await ask('eth_blockNumber', []));
  const finalized = heightOf(((await ask('eth_getBlockByNumber', ['finalized', false])) as Block).number);
  const blocks = new Map<number, Full>();
  const receipts = new Map<string, unknown>();
  for (let number = Math.max(0, head - REMEMBERED + 1); number <= head; number += 1) {
    const block = (await ask('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as Full | null;
    if (!block) continue;
    blocks.set(number, block);
    receipts.set(block.hash, await ask('eth_getBlockReceipts', [block.hash]));
  }
  return { blocks, receipts, head, finalized };
}
