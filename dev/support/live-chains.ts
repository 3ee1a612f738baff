// One gateway that watches both chains, and the same short words for what happens on either.
import { chainOf } from '../../src/chains/index.ts';
import { TRON_ADDRESSES } from '../../src/chains/tron/addresses.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../src/domain/assets.ts';
import { startTronNode, type TronNode, type TronNodeOptions } from '../tron/node.ts';
import { USDT_UNIT } from './chain.ts';
import { addressOn, type LiveMoney, type LiveMoneyOptions, startLiveMoney } from './live-money.ts';

/** What is paid on a chain: `coin` is its own. */
type Paid = { readonly currency: 'USDT' | 'coin'; readonly units: bigint };

/** A chain in words that hold for each; addresses, contracts and hashes are as merchants see them. */
export type LiveChain = {
  readonly network: Network;
  readonly coin: Currency;
  /** Base units of one USDT. */
  readonly usdtUnit: bigint;
  readonly contract: string;
  /** Who pays. */
  readonly payer: string;
  /** Where the first customer is paid. */
  readonly address: string;
  /** Sends a payment, which waits for a block, and returns its hash; unset: to the first customer. */
  pay(paid: Paid, to?: string): Promise<string>;
  /** Makes blocks and returns the height of the head. */
  mine(blocks?: number): Promise<number>;
  /** Makes so many blocks that all before them is final and the gateway asks whether it is. */
  finish(): Promise<number>;
  /** Replaces the newest blocks by as many others; with a hash this payment is in the newest of those. */
  replace(blocks: number, kept?: string): Promise<void>;
  /** Sends a payment again that was sent here before. */
  again(hash: string): Promise<void>;
};

export type LiveChains = {
  readonly live: LiveMoney;
  readonly node: TronNode;
  readonly bsc: LiveChain;
  readonly tron: LiveChain;
  stop(): Promise<void>;
};

export type LiveChainsOptions = LiveMoneyOptions & {
  readonly tron?: TronNodeOptions;
  /** Puts something between the gateway and the node of Tron. */
  readonly apiUrl?: (node: TronNode) => string;
};

/** Blocks between the head and the final block, on either chain. */
export const FINAL_DISTANCE = 6;
/** Of both chains. */
export const LIVE_CONFIRMATIONS = 3;
/** BNB Chain is asked at every block what is final, Tron after some blocks together. */
const FINISHING = { bsc: FINAL_DISTANCE + 2, tron: FINAL_DISTANCE + 12 } as const;

/** What a gateway has to be told to watch this node. */
export function tronEnv(node: TronNode, apiUrl = node.url): NodeJS.ProcessEnv {
  return {
    TRON_API_URLS: apiUrl,
    TRON_USDT_CONTRACT: TRON_ADDRESSES.format(node.usdt.key),
    TRON_CONFIRMATIONS: String(LIVE_CONFIRMATIONS),
    TRON_REQUESTS_PER_SECOND: '1000',
    TRON_REQUESTS_PER_DAY: '10000000',
  };
}

/** Starts everything on parts of its own; blocks come by hand unless `tron` says otherwise. */
export async function startLiveChains(options: LiveChainsOptions = {}): Promise<LiveChains> {
  const node = await startTronNode({ solidDistance: FINAL_DISTANCE, ...options.tron });
  const live = await startLiveMoney({
    chain: { slotsInAnEpoch: FINAL_DISTANCE / 2 },
    ...options,
    env: {
      BSC_CONFIRMATIONS: String(LIVE_CONFIRMATIONS),
      ...tronEnv(node, options.apiUrl?.(node)),
      ...options.env,
    },
  });
  return {
    live,
    node,
    bsc: bscOf(live),
    tron: tronOf(live, node),
    stop: async () => {
      await live.stop();
      await node.stop();
    },
  };
}

function bscOf({ chain, customer }: LiveMoney): LiveChain {
  const asShown = (address: string): string => {
    const { key, format } = chainOf('bsc').addresses;
    return format(key(address));
  };
  const raws = new Map<string, unknown>();
  const address = addressOn(customer, 'bsc');
  return {
    network: 'bsc',
    coin: NATIVE_CURRENCY.bsc,
    usdtUnit: USDT_UNIT,
    contract: asShown(chain.usdt.address),
    payer: chain.accounts[0] ?? '',
    address,
    pay: async ({ currency, units }, to = address) => {
      const hash =
        currency === 'USDT'
          ? await chain.usdt.call('transfer', [to, units])
          : await chain.send({ to, valueUnits: units });
      raws.set(hash, await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
      return hash;
    },
    mine: chain.mine,
    finish: () => chain.mine(FINISHING.bsc),
    replace: async (blocks, kept) => {
      const transactions = kept === undefined ? [] : [[raws.get(kept), blocks - 1]];
      await chain.anvil.rpc('anvil_reorg', [blocks, transactions]);
    },
    again: async (hash) => void (await chain.anvil.rpc('eth_sendRawTransaction', [raws.get(hash)])),
  };
}

function tronOf({ customer }: LiveMoney, node: TronNode): LiveChain {
  const { key, format } = TRON_ADDRESSES;
  const address = addressOn(customer, 'tron');
  const [payer] = node.accounts;
  if (!payer) throw new Error('the node has no accounts');
  return {
    network: 'tron',
    coin: NATIVE_CURRENCY.tron,
    usdtUnit: 1_000_000n,
    contract: format(node.usdt.key),
    payer: format(payer.address),
    address,
    pay: ({ currency, units }, to = address) =>
      node.pay({ to: key(to), currency: currency === 'USDT' ? 'USDT' : 'TRX', units }),
    mine: node.mine,
    finish: () => node.mine(FINISHING.tron),
    replace: (blocks, kept) => node.replace(blocks, { keep: kept === undefined ? 'none' : 'moved' }),
    again: node.again,
  };
}
