// Nodes that stand on a branch of their own, made from a real
// chain: what it holds now is kept, and shown for ever after.
import type { TestChain } from '../../../dev/support/chain.ts';
import type { Fault, RpcCall } from '../../../dev/support/fault-proxy.ts';
import { NO_TRACES } from './test-watcher.ts';

type Block = {
  readonly number: string;
  readonly hash: string;
  readonly transactions: readonly (string | { readonly hash: string })[];
};

const toHex = (number: number): string => `0x${number.toString(16)}`;
const answered = (call: RpcCall, result: unknown) => ({ json: { jsonrpc: '2.0', id: call.id, result } });
const refused = (call: RpcCall, code = -32000) => ({
  json: { jsonrpc: '2.0', id: call.id, error: { code, message: 'not here' } },
});

/**
 * A node that hangs at the chain's present head: from `from` on it has the blocks that are there now, nothing
 * above them, and below them what the chain has. What it calls final lies `finalBehind` below its head.
 */
export async function frozenNode(chain: TestChain, from: number, finalBehind = 2): Promise<Fault> {
  const head = Number.parseInt(String(await chain.anvil.rpc('eth_blockNumber', [])), 16);
  const whole = new Map<number, Block>();
  const receipts = new Map<string, unknown>();
  for (let number = from; number <= head; number++) {
    const block = (await chain.anvil.rpc('eth_getBlockByNumber', [toHex(number), true])) as Block;
    whole.set(number, block);
    receipts.set(block.hash, await chain.anvil.rpc('eth_getBlockReceipts', [toHex(number)]));
  }
  const light = (block: Block) => ({
    ...block,
    transactions: block.transactions.map((entry) => (typeof entry === 'string' ? entry : entry.hash)),
  });
  return async (call, forward) => {
    if (NO_TRACES.some((method) => method === call.method)) return refused(call, -32601);
    if (call.method === 'eth_blockNumber') return answered(call, toHex(head));
    if (call.method === 'eth_getBlockReceipts') {
      const kept = receipts.get(String(call.params[0]));
      return kept === undefined ? undefined : answered(call, kept);
    }
    if (call.method === 'eth_getTransactionReceipt') {
      const kept = [...receipts.values()]
        .flat()
        .find((receipt) => (receipt as { transactionHash: string }).transactionHash === call.params[0]);
      return answered(call, kept ?? null);
    }
    if (call.method !== 'eth_getBlockByNumber') return undefined;
    const [tag, full] = call.params;
    const number =
      tag === 'latest' ? head : tag === 'finalized' ? head - finalBehind : Number.parseInt(String(tag), 16);
    if (number > head) return answered(call, null);
    const kept = whole.get(number);
    if (kept) return answered(call, full ? kept : light(kept));
    return {
      json: {
        ...(await forward()),
        ...(tag === 'finalized'
          ? { result: await chain.anvil.rpc('eth_getBlockByNumber', [toHex(number), full]) }
          : {}),
      },
    };
  };
}

/** A node that answers about heads and headers, and refuses whole blocks. */
export const noBodies: Fault = (call) =>
  call.method === 'eth_getBlockByNumber' && call.params[1] === true ? refused(call) : undefined;

/** One address, two nodes behind it: `turn` says for each call whether the second one answers. */
export function balancer(second: Fault, turn: () => boolean): Fault {
  return (call, forward) => (turn() ? second(call, forward) : undefined);
}
