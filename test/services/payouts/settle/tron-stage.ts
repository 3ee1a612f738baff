// As stage.ts, on Tron: a merchant whose customers have paid, a signer, and steps that a test takes.
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import type { ServiceSettings } from '../../../../src/services/deps.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas.ts';
import { startTronWatcher } from '../../watcher/tron/tron-watcher.ts';
import { shown, tokensOf } from '../stage.ts';
import { actingOn, signerOf } from './common.ts';

export const TRX = 10n ** 6n;
/** Longer than anything that is signed can land. */
const PAST_ITS_TIME_MS = 12 * 60_000;
/** Nobody's; the chain does not know it at first. */
export const MERCHANT_KEY = keyOfHex('d1'.repeat(20));

export type TronSettleStage = Awaited<ReturnType<typeof startTronSettleStage>>;

type Options = {
  readonly payouts?: Partial<ServiceSettings['payouts']>;
  readonly others?: number;
  readonly signs?: boolean;
  /** Unset: it is burnt. */
  readonly energy?: 'delegate';
};

/** Starts the chain, a watcher and a signer; coins and tokens are where a test puts them. */
async function startTronSettleStage({ payouts, others = 0, signs = true, energy }: Options = {}) {
  const clock = { aheadMs: 0 };
  const now = (): Date => new Date(Date.now() + clock.aheadMs);
  const live = await startTronWatcher({
    others,
    now,
    settings: {
      payouts: { networks: ['tron'], minUnits: new Map(), maxFeeBasisPoints: 10_000n, ...payouts },
    },
  });
  const deps = { ...live.deps, prices: pricesAt(now) };
  const usdtContract = TRON_ADDRESSES.format(live.node.usdt.key);
  const spendingBy = (how: 'burn' | 'delegate') =>
    live.newSpending({
      date: () => now().getTime(),
      shortLookMs: 60_000,
      limits: { usdtContract, maxFeeLimitSun: 50n * TRX, energy: how },
    });
  const spending = spendingBy(energy ?? 'burn');
  const signer = await signerOf(deps, { TRON_USDT_CONTRACT: usdtContract });
  await publishGasWallets(deps, { tron: signer.gas.tron });
  await updateMerchant(deps, {
    merchantId: live.api.merchant.id,
    withdraw: { tron: shown('tron', MERCHANT_KEY) },
  });
  await live.catchUp();
  if (signs) await signer.start();
  const { node, finish } = live;
  return {
    ...live,
    deps,
    clock,
    signer,
    gas: TRON_ADDRESSES.key(signer.gas.tron),
    spending: spending as Spending,
    /** As a worker has it that is configured otherwise. */
    spendingBy,
    ...actingOn<'TRX' | 'USDT'>({
      network: 'tron',
      deps,
      spending,
      live,
      newKey: live.newAddress,
      send: (to, currency, units) => node.pay({ to, currency, units }),
      mine: node.mine,
      read: finish,
    }),
    coinsOf: async (key: AddressKey): Promise<bigint> => {
      const account = await node.ask('wallet/getaccount', { address: `41${key}` });
      return BigInt((account as { balance?: number }).balance ?? 0);
    },
    tokensOf: (key: string) => tokensOf(node.anvil, `0x${node.usdt.key}`, key),
    lentTo: lentFrom(TRON_ADDRESSES.key(signer.gas.tron), spending),
    /** The chain's clock and ours go on by more than a transaction may live; blocks are read up to then. */
    async letItsTimePass(): Promise<void> {
      const { timestampMs } = live.node.head().header;
      const nowMs = now().getTime();
      // Blocks that are made by hand may be ahead of the clock.
      clock.aheadMs += Math.max(0, timestampMs - nowMs) + PAST_ITS_TIME_MS;
      await live.node.mine(1, Math.max(nowMs, timestampMs) + PAST_ITS_TIME_MS - timestampMs);
      await live.finish();
    },
    async stop() {
      await signer.stop();
      await live.stop();
    },
  };
}

const pricesAt = (now: () => Date) => ({
  price: async (currency: string) => ({
    usd8: currency === 'TRX' ? 3n * 10n ** 7n : 10n ** 8n,
    source: 'test',
    at: now(),
    stale: false,
  }),
});

/** What an address is lent of the gas wallet's stake; -1 where nobody can say. */
function lentFrom(lender: AddressKey, { lending }: Spending): (borrower: AddressKey) => Promise<bigint> {
  return async (borrower) => (await lending?.lent({ lender, borrower }, new AbortController().signal)) ?? -1n;
}

type Funded = Options & {
  /** Whole TRX for gas. */
  readonly gasTrx?: bigint;
  /** Staked by the gas wallet. The merchant has tokens then: a first balance costs twice as much. */
  readonly stakedUnits?: bigint;
};

/** The same with coins for gas in the wallet, and energy where it is staked. */
export async function startFundedTronStage({
  gasTrx = 10_000n,
  stakedUnits,
  ...options
}: Funded = {}): Promise<TronSettleStage> {
  const the = await startTronSettleStage(options);
  await the.node.pay({ to: the.gas, currency: 'TRX', units: gasTrx * TRX });
  if (stakedUnits !== undefined) {
    await the.node.pay({ to: MERCHANT_KEY, currency: 'USDT', units: TRX });
    await the.node.stake(the.gas, stakedUnits);
  }
  await the.finish();
  return the;
}
