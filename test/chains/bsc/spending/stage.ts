// The sending side of BNB Chain over endpoints that can misbehave, in front of a real node.
import { expect } from 'chai';
import { SigningKey, Wallet } from 'ethers';
import {
  type Contract,
  startTestChain,
  TEST_CHAIN_ID,
  type TestChain,
} from '../../../../dev/support/chain.ts';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { type FaultProxy, startFaultProxy } from '../../../../dev/support/fault-proxy.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { openBsc } from '../../../../src/chains/bsc/open.ts';
import { bscTransfers } from '../../../../src/chains/bsc/transfer.ts';
import type { OpenChain } from '../../../../src/chains/chain.ts';
import type { EndpointStatus } from '../../../../src/chains/rpc/types.ts';
import type { Quote, Spending, SpendOrder } from '../../../../src/chains/spending.ts';
import type { SignedTransfer, Transfer } from '../../../../src/chains/transfer.ts';

export const GWEI = 10n ** 9n;
export const BNB = 10n ** 18n;
export const PATH_KEY = 'SECRETPATHKEY';

export type Terms = Extract<Quote, { kind: 'terms' }>;
export type Limits = { readonly maxGasPriceWei?: bigint; readonly maxGasLimit?: bigint };
/** `patience`: 1 gives real nodes as long for an answer as in production; unset means ten times as long. */
type Given = {
  readonly endpoints?: readonly FaultProxy[];
  readonly token?: string;
  readonly patience?: number;
} & Limits;

export type Stage = {
  readonly chain: TestChain;
  /** Two endpoints in front of the one node. */
  readonly first: FaultProxy;
  readonly second: FaultProxy;
  /** A token, or a receiver, with a mood. */
  readonly moody: Contract;
  /** Opens the chain as the gateway does, over the first endpoint where none are named. */
  open(given?: Given): OpenChain & { readonly spending: Spending };
  sign(order: SpendOrder, terms: Terms, nonce?: number): SignedTransfer;
  /** A new key of ours with this much on its address. */
  wallet(holding?: {
    readonly coins?: bigint;
    readonly tokens?: bigint;
    readonly moody?: bigint;
  }): Promise<AddressKey>;
  coinsOf(key: AddressKey): Promise<bigint>;
  tokensOf(key: AddressKey, contract?: Contract): Promise<bigint>;
  /** A receipt, once it is mined: whether it did what it should, and the gas that it used. */
  receipt(hash: string): Promise<{ readonly ok: boolean; readonly gas: bigint } | undefined>;
  stop(): Promise<void>;
};

/** Starts a node and two endpoints in front of it. */
export async function startStage(): Promise<Stage> {
  const chain = await startTestChain();
  const [first, second] = [await startFaultProxy(chain.url), await startFaultProxy(chain.url)];
  const moody = await chain.deploy(testContracts().Moody);
  const keys = new Map<AddressKey, SigningKey>();
  const quantity = async (method: string, params: readonly unknown[]): Promise<bigint> =>
    BigInt(String(await chain.anvil.rpc(method, params)));

  return {
    chain,
    first,
    second,
    moody,
    open({ endpoints = [first], token = chain.usdt.address, patience = 10, ...limits } = {}) {
      const urls = endpoints.map(({ url }) => new URL(`/v3/${PATH_KEY}`, url).href);
      const settings = { ...settingsOf(token, limits), urls };
      const opened = openBsc(settings, { ...SILENT, patience });
      return { ...opened, spending: opened.spending ?? expect.fail('nothing can be sent') };
    },
    sign(order, { terms: given, units }, nonce) {
      const transfers = bscTransfers(settingsOf(chain.usdt.address, {}));
      const terms = transfers.terms(given, order.kind, new Date());
      const transfer: Transfer = { ...order, units, nonce: nonce ?? terms.chainNonce };
      const key = keys.get(order.from) ?? expect.fail('not a key of this test');
      return transfers.sign(transfer, terms, (digest) => key.sign(digest));
    },
    async wallet({ coins = 0n, tokens = 0n, moody: odd = 0n } = {}) {
      const key = new SigningKey(Wallet.createRandom().privateKey);
      const { address } = new Wallet(key);
      const owned = keyOfHex(address, 2);
      keys.set(owned, key);
      if (coins > 0n) await chain.send({ to: address, valueUnits: coins });
      if (tokens > 0n) await chain.usdt.call('transfer', [address, tokens]);
      if (odd > 0n) await moody.call('mint', [address, odd]);
      await chain.mine();
      return owned;
    },
    coinsOf: (key) => quantity('eth_getBalance', [`0x${key}`, 'latest']),
    tokensOf: (key, contract = chain.usdt) =>
      quantity('eth_call', [
        { to: contract.address, data: contract.data('balanceOf', [`0x${key}`]) },
        'latest',
      ]),
    async receipt(hash) {
      const found = (await chain.anvil.rpc('eth_getTransactionReceipt', [hash])) as {
        status: string;
        gasUsed: string;
      } | null;
      return found ? { ok: found.status === '0x1', gas: BigInt(found.gasUsed) } : undefined;
    },
    async stop() {
      await Promise.all([first.stop(), second.stop()]);
      await chain.stop();
    },
  };
}

const SILENT = { onEndpoint: () => undefined, onRead: () => undefined };

function settingsOf(usdtContract: string, limits: Limits) {
  const { maxGasPriceWei = 5n * GWEI, maxGasLimit = 200_000n } = limits;
  const rpcRequestsPerSecond = 10_000;
  const common = {
    enabled: true,
    rpcRequestsPerSecond,
    explorerUrl: undefined,
    confirmations: 15,
  };
  const gas = { maxGasPriceWei, minGasPriceWei: 0n, maxGasLimit };
  return { ...common, chainId: TEST_CHAIN_ID, usdtContract, ...gas };
}

/** The terms of a quote; fails with the reason where it is a refusal. */
export function termsOf(quote: Quote): Terms {
  return quote.kind === 'terms' ? quote : expect.fail(`${quote.code}: ${quote.reason}`);
}

/** The most gas that it may use. */
export const gasOf = ({ terms }: Terms): bigint => BigInt(String(terms['gas_limit']));
/** What it pays for one unit of gas, in wei. */
export const priceOf = ({ terms }: Terms): bigint => BigInt(String(terms['gas_price']));

/** What the pool thinks of an endpoint, less what its own probes change at any time. */
export const standing = ({ host, problem, requestsPerSecond }: EndpointStatus) => ({
  host,
  problem,
  requestsPerSecond,
});
