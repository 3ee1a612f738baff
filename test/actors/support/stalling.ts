// A chain whose endpoint stands still or is in a hurry, in words that hold for each.

import type { TestChain } from '../../../dev/support/chain.ts';
import type { FaultProxy } from '../../../dev/support/fault-proxy.ts';
import { hasty, lag, solidBack } from '../../../dev/tron/faults.ts';
import type { TronNode } from '../../../dev/tron/node.ts';

export type Stalling = {
  /** From now on no newer block is shown, nor named as final; returns the newest that is. */
  head(): Promise<number>;
  /** From now on the block that is final now is named as final for ever; returns its height. */
  final(): Promise<number>;
  /** From now on every block is named as final at once. */
  hasty(): void;
  /** Ends each of them. */
  heal(): void;
};

type NumberedBlock = { readonly number: string };

/** BNB Chain behind a proxy. */
export function stallingBsc(chain: TestChain, proxy: FaultProxy): Stalling {
  const named = async (tag: string): Promise<NumberedBlock> =>
    (await chain.anvil.rpc('eth_getBlockByNumber', [tag, false])) as NumberedBlock;
  /** What is shown for a tag or a height; undefined leaves it to the node. */
  const show = (shown: (which: string) => unknown): void => {
    proxy.fault = async ({ id, method, params }) => {
      const result = method === 'eth_getBlockByNumber' ? await shown(String(params[0])) : undefined;
      return result === undefined ? undefined : { json: { jsonrpc: '2.0', id, result } };
    };
  };
  return {
    head: async () => {
      const [latest, finalized] = await Promise.all([named('latest'), named('finalized')]);
      const tags: Readonly<Record<string, NumberedBlock>> = { latest, finalized };
      show((which) => tags[which] ?? (Number(which) > Number(latest.number) ? null : undefined));
      return Number(latest.number);
    },
    final: async () => {
      const finalized = await named('finalized');
      show((which) => (which === 'finalized' ? finalized : undefined));
      return Number(finalized.number);
    },
    hasty: () => show((which) => (which === 'finalized' ? named('latest') : undefined)),
    heal: () => {
      proxy.fault = undefined;
    },
  };
}

/** Tron at the node's own address. */
export function stallingTron(node: TronNode): Stalling {
  return {
    head: async () => {
      const { number } = node.head().header;
      node.fault = lag(node, number);
      return number;
    },
    final: async () => {
      const at = node.solidHeight();
      node.fault = solidBack(node, { at });
      return at;
    },
    hasty: () => {
      node.fault = hasty(node);
    },
    heal: () => {
      node.fault = undefined;
    },
  };
}
