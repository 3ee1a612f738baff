// As stage.ts, on Tron: a merchant whose customers have paid, a signer, and steps that a test takes.
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { TRON_ADDRESSES } from '../../../../src/chains/tron/addresses.ts';
import { advanceDeposit } from '../../../../src/services/deposits/advance.ts';
import type { ServiceSettings } from '../../../../src/services/deps.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas-wallets.ts';
import { advanceSettlement } from '../../../../src/services/payouts/settle/advance.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { startTronWatcher, type TronWatcher } from '../../watcher/tron/tron-watcher.ts';
import { shown } from '../stage.ts';
import { signed, signerOf } from './stage.ts';

export const TRX = 10n ** 6n;
/** Longer than anything that is signed can land. */
const PAST_ITS_TIME_MS = 12 * 60_000;
/** Nobody's; the chain does not know it at first. */
export const MERCHANT_KEY = keyOfHex('d1'.repeat(20));
const MAX_STEPS = 60;

export type TronSettleStage = Awaited<ReturnType<typeof startTronSettleStage>>;

type Options = {
  readonly payouts?: Partial<ServiceSettings['payouts']>;
  readonly others?: number;
  readonly signs?: boolean;
  /** Unset: it is burnt. */
  readonly energy?: 'delegate';
};
type Payment = readonly ['TRX' | 'USDT', bigint];

/** Starts the chain, a watcher and a signer; coins and tokens are where a test puts them. */
export async function startTronSettleStage({ payouts, others = 0, signs = true, energy }: Options = {}) {
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
  const watchedChain = Object.assign(live.watchedChain, { spending });
  const chainsOver = (over: Spending) =>
    new Map([['tron', over === spending ? watchedChain : { ...watchedChain, spending: over }]]);
  const signer = await signerOf(deps, { TRON_USDT_CONTRACT: usdtContract });
  await publishGasWallets(deps, { tron: signer.gas.tron });
  await updateMerchant(deps, {
    merchantId: live.api.merchant.id,
    withdraw: { tron: shown('tron', MERCHANT_KEY) },
  });
  await live.catchUp();
  if (signs) await signer.start();
  const step = async (addressKey: AddressKey, alarmed = false, over = spending): Promise<SettlementStep> =>
    await advanceSettlement({ ...deps, chains: chainsOver(over) }, { network: 'tron', addressKey, alarmed });
  return {
    ...live,
    deps,
    clock,
    signer,
    gas: TRON_ADDRESSES.key(signer.gas.tron),
    spending: spending as Spending,
    /** As a worker has it that is configured otherwise. */
    spendingBy,
    step,
    ...paymentsOf(live, deps),
    settle: settling((key) => step(key), live),
    /** The same, by a worker that sends and asks over something else. */
    settleOver: (over: Spending) => settling((key) => step(key, false, over), live),
    ...rowsOfPayouts(live),
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

function paymentsOf({ node, newAddress, rows, finish }: TronWatcher, deps: TronWatcher['deps']) {
  return {
    coinsOf: async (key: AddressKey): Promise<bigint> => {
      const account = await node.ask('wallet/getaccount', { address: `41${key}` });
      return BigInt((account as { balance?: number }).balance ?? 0);
    },
    tokensOf: async (key: string): Promise<bigint> => {
      const data = `0x70a08231${key.padStart(64, '0')}`;
      return BigInt(String(await node.anvil.rpc('eth_call', [{ to: `0x${node.usdt.key}`, data }, 'latest'])));
    },
    /** A customer's address on which so much was paid and completed. */
    async paid(...payments: readonly Payment[]): Promise<AddressKey> {
      const key = await newAddress();
      await this.pay(key, ...payments);
      return key;
    },
    async pay(key: AddressKey, ...payments: readonly Payment[]): Promise<void> {
      for (const [currency, units] of payments) {
        await node.pay({ to: key, currency, units });
        await node.mine();
      }
      await this.complete();
    },
    /** Every deposit that the chain permits is completed. */
    async complete(): Promise<void> {
      await node.mine(20);
      await finish();
      const open = await rows("select id from deposits where status in ('detected', 'confirming')");
      for (const { id } of open) await advanceDeposit(deps, { depositId: String(id), alarmed: false });
    },
  };
}

/** Takes steps until one is as wanted (nothing is left to do); blocks are made wherever one waits. */
function settling(step: (key: AddressKey) => Promise<SettlementStep>, { rows, finish }: TronWatcher) {
  return async (
    addressKey: AddressKey,
    until: (step: SettlementStep) => boolean = ({ kind }) => kind === 'rest',
  ): Promise<SettlementStep[]> => {
    const steps: SettlementStep[] = [];
    for (let taken = 0; taken < MAX_STEPS; taken += 1) {
      const one = await step(addressKey);
      steps.push(one);
      if (until(one)) return steps;
      if (one.kind === 'wait') {
        await finish();
        await signed(rows);
      }
    }
    throw new Error(`it never ends: ${JSON.stringify(steps.slice(-5))}`);
  };
}

function rowsOfPayouts({ rows }: TronWatcher) {
  return {
    payouts: (key: AddressKey) =>
      rows('select * from payouts where address_key = ? order by created_at, id', [key]),
    sent: (key: AddressKey) =>
      rows(
        `select s.* from sent_transactions s join payouts p on p.id = s.payout_id where p.address_key = ?
         order by s.created_at, s.id`,
        [key],
      ),
    wait: async (key: AddressKey) =>
      (await rows('select * from settlement_waits where address_key = ?', [key]))[0],
  };
}
