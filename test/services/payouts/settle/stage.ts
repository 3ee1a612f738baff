import { expect } from 'chai';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { createBscSpending } from '../../../../src/chains/bsc/spending/spending.ts';
import { createRpcPool } from '../../../../src/chains/rpc/json-rpc.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import type { ServiceSettings } from '../../../../src/services/deps.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas.ts';
import { startTestWatcher } from '../../watcher/test-watcher.ts';
import { shown, tokensOf } from '../stage.ts';
import { actingOn, signerOf } from './common.ts';

export const USDT = 10n ** 18n;
export const GWEI = 10n ** 9n;
/** Nobody's. */
export const MERCHANTS = shown('bsc', keyOfHex('d1'.repeat(20)));

export type SettleStage = Awaited<ReturnType<typeof startSettleStage>>;

type Options = {
  readonly payouts?: Partial<ServiceSettings['payouts']>;
  readonly others?: number;
  readonly signs?: boolean;
};

/** Starts the chain, a watcher and a signer; coins and tokens are where a test puts them. */
export async function startSettleStage({ payouts, others = 0, signs = true }: Options = {}) {
  const clock = { aheadMs: 0 };
  const live = await startTestWatcher({
    slotsInAnEpoch: 2,
    others,
    now: () => new Date(Date.now() + clock.aheadMs),
    settings: { payouts: { networks: ['bsc'], minUnits: new Map(), maxFeeBasisPoints: 10_000n, ...payouts } },
  });
  const { chain } = live;
  const prices = {
    price: async (currency: string) => ({
      usd8: (currency === 'BNB' ? 600n : 1n) * 10n ** 8n,
      source: 'test',
      at: new Date(Date.now() + clock.aheadMs),
      stale: false,
    }),
  };
  const deps = { ...live.deps, prices };
  const spending = spendingOver(
    [live.proxy, ...live.others].map(({ url }) => url),
    chain.usdt.address,
  );
  const signer = await signerOf(deps, { BSC_USDT_CONTRACT: chain.usdt.address });
  await publishGasWallets(deps, { bsc: signer.gas.bsc });
  await updateMerchant(deps, { merchantId: live.api.merchant.id, withdraw: { bsc: MERCHANTS } });
  await live.catchUp();
  if (signs) await signer.start();
  const acting = actingOn<'BNB' | 'USDT'>({
    network: 'bsc',
    deps,
    spending,
    live,
    newKey: async () => keyOfHex(await live.newAddress(), 2),
    send: (to, currency, units) =>
      currency === 'USDT'
        ? chain.usdt.call('transfer', [`0x${to}`, units])
        : chain.send({ to: `0x${to}`, valueUnits: units }),
    mine: chain.mine,
    read: live.catchUp,
  });
  return {
    ...live,
    deps,
    clock,
    signer,
    gas: keyOfHex(signer.gas.bsc, 2),
    spending,
    ...acting,
    ...balancesOf(chain),
    /** What no block has taken is sent again within a minute, and asked for at a higher price after it. */
    async outbids(): Promise<void> {
      clock.aheadMs += 50_000;
      await acting.wallets();
      clock.aheadMs += 11_000;
      const said = (await acting.wallets()).map((one) => ('note' in one ? one.note : one.reason));
      expect(said.join('; ')).to.contain('at a higher price');
    },
    depositsOf: (key: AddressKey) => live.deposits(`0x${key}`),
    /** What every endpoint answers; undefined: what the node says. */
    everywhere(fault: Live['proxy']['fault']): void {
      for (const proxy of [live.proxy, ...live.others]) proxy.fault = fault;
    },
    async stop() {
      await signer.stop();
      await live.stop();
    },
  };
}

/** The same with a coin for gas in the wallet. */
export async function startFundedStage(options: Options = {}): Promise<SettleStage> {
  const the = await startSettleStage(options);
  await the.chain.send({ to: `0x${the.gas}`, valueUnits: 10n ** 18n });
  await the.finish();
  return the;
}

type Live = Awaited<ReturnType<typeof startTestWatcher>>;

/** What lies on an address at the head. */
function balancesOf(chain: Live['chain']) {
  return {
    coinsOf: async (key: string) =>
      BigInt(String(await chain.anvil.rpc('eth_getBalance', [`0x${key}`, 'latest']))),
    tokensOf: (key: string) => tokensOf(chain.anvil, chain.usdt.address, key),
  };
}

function spendingOver(urls: readonly string[], usdtContract: string): Spending {
  const rpc = createRpcPool({ name: 'bsc', urls, chainId: 56, patience: 10 });
  const limits = { usdtContract, maxGasPriceWei: 5n * GWEI, minGasPriceWei: 0n, maxGasLimit: 200_000n };
  // Tests change the price of gas between two quotes.
  let nowMs = 0;
  return createBscSpending(rpc, limits, () => (nowMs += 60_000));
}
