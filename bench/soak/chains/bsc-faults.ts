import { setTimeout as sleep } from 'node:timers/promises';
import { keccak256 } from 'ethers';
import { type Answer, type Fault, firstOf, type RpcCall } from '../../../dev/support/fault-proxy.ts';
import { BLOCK_FAULTS, changed } from '../../../dev/support/faults.ts';
import { type Faults, REMEMBERED } from './chain.ts';

const STALE_BLOCKS = 4;
const SLOW_MS = 1_500;
/** Far above what the gateway pays, in wei. */
const DEAR = '0x174876e800';
const SENDING = 'eth_sendRawTransaction';
const TRACES = [
  'trace_block',
  'debug_traceBlockByHash',
  'debug_traceBlockByNumber',
  'debug_traceTransaction',
];
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

const json = (call: RpcCall, more: object): Answer => ({ json: { jsonrpc: '2.0', id: call.id, ...more } });
const heightOf = (quantity: unknown): number => Number.parseInt(String(quantity), 16);

async function ask(target: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const reply = await fetch(target, { method: 'POST', headers, body });
  return ((await reply.json()) as { result?: unknown }).result;
}

/** The same answer to some methods alone. */
const instead = (methods: readonly string[], answer: (call: RpcCall) => Answer) => (): Fault => (call) =>
  methods.includes(call.method) ? answer(call) : undefined;
const refusing = (methods: readonly string[], code: number, message: string) =>
  instead(methods, (call) => json(call, { error: { code, message } }));
const traces = (change: (result: unknown) => unknown) => (): Fault =>
  firstOf(...TRACES.map((method) => changed(method, change)));

/** No block where this is asked for. */
const nothing = (isAsked: (params: readonly unknown[]) => boolean) => (): Fault => (call) =>
  call.method === 'eth_getBlockByNumber' && isAsked(call.params) ? json(call, { result: null }) : undefined;

const another = `0x${'ab'.repeat(32)}`;

/**
 * What endpoints do wrong, given the node behind them: by the clock, behind the others, where money inside
 * a transaction is read, where it is to be sent, and each fault that the fault proxy's own tests know.
 */
export const BSC_FAULTS: Faults<Fault, string> = {
  slow: () => async () => {
    await sleep(SLOW_MS);
    return undefined;
  },
  stale_head: (target) => (call) => stale(target, call),
  missing_block: nothing(([, whole]) => whole === true),
  not_yet_final: nothing(([which]) => which === 'finalized'),
  accepts_and_resets:
    () =>
    async (_call, forward): Promise<Answer> => {
      await forward();
      return 'reset';
    },
  trace_unknown: refusing(TRACES, -32601, 'the method does not exist'),
  trace_refused: refusing(TRACES, -32000, 'historical state is not available'),
  trace_hang: instead(TRACES, () => 'hang'),
  trace_null: instead(TRACES, (call) => json(call, { result: null })),
  trace_empty: instead(TRACES, (call) => json(call, { result: [] })),
  trace_html: instead(TRACES, () => ({ status: 200, body: '<html>upgrade your plan</html>' })),
  trace_cut: traces((result) => (Array.isArray(result) ? result.slice(0, -1) : result)),
  trace_of_another: traces((result) =>
    Array.isArray(result)
      ? result.map((entry) => ({ ...entry, txHash: another, transactionHash: another, blockHash: another }))
      : result,
  ),
  broadcast_swallowed: instead([SENDING], (call) =>
    json(call, { result: keccak256(String(call.params[0])) }),
  ),
  broadcast_unanswered: () => async (call, forward) => {
    if (call.method !== SENDING) return undefined;
    await forward();
    return 'reset';
  },
  broadcast_known: refusing([SENDING], -32000, 'already known'),
  broadcast_too_low: refusing([SENDING], -32000, 'nonce too low'),
  gas_price_zero: instead(['eth_gasPrice'], (call) => json(call, { result: '0x0' })),
  gas_price_dear: instead(['eth_gasPrice'], (call) => json(call, { result: DEAR })),
  trial_refused: refusing(['eth_call', 'eth_estimateGas'], 3, 'execution reverted: no'),
  ...Object.fromEntries(BLOCK_FAULTS.map(([name, , fault]) => [name, () => fault])),
};

/** An endpoint some blocks behind the others: it knows neither the newest blocks nor their finality. */
async function stale(target: string, call: RpcCall): Promise<Answer | undefined> {
  if (call.method !== 'eth_getBlockByNumber' && call.method !== 'eth_blockNumber') return undefined;
  const head = heightOf(await ask(target, 'eth_blockNumber', [])) - STALE_BLOCKS;
  const top = `0x${head.toString(16)}`;
  if (call.method === 'eth_blockNumber') return json(call, { result: top });
  const [wanted, whole] = call.params;
  if (wanted === 'latest') return json(call, { result: await ask(target, call.method, [top, whole]) });
  const isAbove = String(wanted).startsWith('0x') && heightOf(wanted) > head;
  return isAbove ? json(call, { result: null }) : undefined;
}

type Log = { topics: string[]; data: string };
type Receipt = { status: string; blockNumber: string; logs: Log[]; logsBloom?: string | undefined };
type Block = { number: string; hash: string; logsBloom?: string | undefined };

const isPayment = ({ topics, data }: Log): boolean =>
  topics[0] === TRANSFER && /^0x[0-9a-f]{64}$/.test(data) && BigInt(data) > 0n;
const tripled = (log: Log): Log => ({
  ...log,
  data: `0x${(BigInt(log.data) * 3n + 1n).toString(16).padStart(64, '0')}`,
});

/**
 * What the second endpoint says that is not so, while the first one does not answer: only at the head.
 * What is final it tells as it is, so the read after finality, which decides, is told the truth.
 */
export const BSC_LIES: Faults<Fault, string> = {
  'other amounts': ofLogs((log) => [isPayment(log) ? tripled(log) : log]),
  'logs left out': ofLogs((log) => (isPayment(log) ? [] : [log])),
  'logs doubled': ofLogs((log) => (isPayment(log) ? [log, log] : [log])),
  'everything failed': ofReceipts((receipt) => ({ ...receipt, status: '0x0', logs: [] })),
  'hangs on a replaced tip': (target) => stuck(target, { alsoHead: false }),
  'hangs on a replaced tip, head and all': (target) => stuck(target, { alsoHead: true }),
};

function ofLogs(change: (log: Log) => Log[]): (target: string) => Fault {
  return ofReceipts((receipt) => ({ ...receipt, logs: receipt.logs.flatMap(change) }));
}

/** Changes the receipts of blocks that are not final, and takes away the blooms that would give it away. */
function ofReceipts(change: (receipt: Receipt) => Receipt): (target: string) => Fault {
  return (target) => async (call, forward) => {
    const isBlock = call.method === 'eth_getBlockByNumber';
    if (!isBlock && call.method !== 'eth_getBlockReceipts') return undefined;
    const { result } = await forward();
    const number = isBlock
      ? (result as Block | null)?.number
      : (result as Receipt[] | null)?.[0]?.blockNumber;
    const final = (await ask(target, 'eth_getBlockByNumber', ['finalized', false])) as Block;
    if (number === undefined || heightOf(number) <= heightOf(final.number)) return json(call, { result });
    const told = isBlock
      ? { ...(result as Block), logsBloom: undefined }
      : (result as Receipt[]).map((receipt) => ({ ...change(receipt), logsBloom: undefined }));
    return json(call, { result: told });
  };
}

/**
 * An endpoint that stands still where it is: it gives the blocks of that moment,
 * replaced or not, and nothing above them. With `alsoHead` false only bodies are
 * old while head and finality go on, as behind a balancer whose nodes do not agree.
 */
function stuck(target: string, { alsoHead }: { readonly alsoHead: boolean }): Fault {
  const remembered = remember(target);
  // Whoever is asked nothing meanwhile may have ended before it was known.
  remembered.catch(() => undefined);
  return async (call, forward) => {
    const { blocks, receipts, head, finalized } = await remembered;
    const [wanted, whole] = call.params;
    if (call.method === 'eth_getBlockReceipts' && receipts.has(String(wanted)))
      return json(call, { result: receipts.get(String(wanted)) });
    if (alsoHead && call.method === 'eth_blockNumber')
      return json(call, { result: `0x${head.toString(16)}` });
    if (call.method !== 'eth_getBlockByNumber') return undefined;
    const height = wanted === 'latest' ? head : wanted === 'finalized' ? finalized : heightOf(wanted);
    if (!alsoHead && (wanted === 'latest' || wanted === 'finalized' || whole !== true)) return undefined;
    if (height > head) return json(call, { result: null });
    const block = blocks.get(height);
    if (!block) return { json: await forward() };
    const hashes = block.transactions.map((transaction) => transaction.hash);
    return json(call, { result: whole === true ? block : { ...block, transactions: hashes } });
  };
}

async function remember(target: string) {
  const head = heightOf(await ask(target, 'eth_blockNumber', []));
  const final = (await ask(target, 'eth_getBlockByNumber', ['finalized', false])) as Block;
  const blocks = new Map<number, Block & { transactions: { hash: string }[] }>();
  const receipts = new Map<string, unknown>();
  for (let number = Math.max(0, head - REMEMBERED + 1); number <= head; number += 1) {
    const block = await ask(target, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, true]);
    if (!block) continue;
    const full = block as Block & { transactions: { hash: string }[] };
    blocks.set(number, full);
    receipts.set(full.hash, await ask(target, 'eth_getBlockReceipts', [full.hash]));
  }
  return { blocks, receipts, head, finalized: heightOf(final.number) };
}
