// A merchant whose customers have paid on a real chain, a signer, and the steps of a settlement as a test
// takes them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../../dev/support/eventually.ts';
import { tempDir } from '../../../../dev/support/parts.ts';
import { type AddressKey, keyOfHex } from '../../../../src/chains/address-key.ts';
import { createBscSpending } from '../../../../src/chains/bsc/spending/spending.ts';
import { createRpcPool } from '../../../../src/chains/rpc/json-rpc.ts';
import type { Spending } from '../../../../src/chains/spending.ts';
import { advanceDeposit } from '../../../../src/services/deposits/advance.ts';
import type { ServiceSettings } from '../../../../src/services/deps.ts';
import { updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { publishGasWallets } from '../../../../src/services/payouts/gas-wallets.ts';
import { advanceSettlement } from '../../../../src/services/payouts/settle/advance.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/input.ts';
import { runSigner, type SignerDeps } from '../../../../src/signer/pull/loop.ts';
import { createWallet, readPublicParts } from '../../../../src/signer/wallet-file.ts';
import { testTransfers } from '../../../signer/pull/stage.ts';
import { OWN_PHRASE, type Row, startTestWatcher } from '../../watcher/test-watcher.ts';
import { shown } from '../stage.ts';

export const USDT = 10n ** 18n;
export const GWEI = 10n ** 9n;
/** Nobody's. */
export const MERCHANTS = shown('bsc', keyOfHex('d1'.repeat(20)));
const PASSPHRASE = 'the passphrase of this stage';
const MAX_STEPS = 200;

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
  const watchedChain = Object.assign(live.watchedChain, { spending });
  const chainsOver = (over: Spending) =>
    new Map([['bsc', over === spending ? watchedChain : { ...watchedChain, spending: over }]]);
  const signer = await signerOf(deps, { BSC_USDT_CONTRACT: chain.usdt.address });
  await publishGasWallets(deps, { bsc: signer.gas.bsc });
  await updateMerchant(deps, { merchantId: live.api.merchant.id, withdraw: { bsc: MERCHANTS } });
  await live.catchUp();
  if (signs) await signer.start();
  const step = async (addressKey: AddressKey, alarmed = false, over = spending): Promise<SettlementStep> =>
    await advanceSettlement({ ...deps, chains: chainsOver(over) }, { network: 'bsc', addressKey, alarmed });
  const settle = settling((key) => step(key), live);
  return {
    ...live,
    deps,
    clock,
    signer,
    gas: keyOfHex(signer.gas.bsc, 2),
    spending,
    step,
    ...balancesOf(chain),
    ...paymentsOf(live, deps),
    settle,
    /** What no block has taken is sent again within a minute, and asked for at a higher price after it. */
    async outbids(key: AddressKey, says = 'higher price'): Promise<void> {
      clock.aheadMs += 50_000;
      await settle(key, (one) => one.kind === 'went' && one.note.endsWith(': sent'));
      clock.aheadMs += 11_000;
      await settle(key, (one) => ('note' in one ? one.note : one.reason).includes(says));
    },
    /** The same, by a worker that sends and asks over something else. */
    settleOver: (over: Spending) => settling((key) => step(key, false, over), live),
    ...rowsOfPayouts(live),
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
    tokensOf: async (key: string) =>
      BigInt(
        String(
          await chain.anvil.rpc('eth_call', [
            { to: chain.usdt.address, data: `0x70a08231${key.padStart(64, '0')}` },
            'latest',
          ]),
        ),
      ),
  };
}

function paymentsOf(live: Live, deps: Live['deps']) {
  const { chain, rows } = live;
  return {
    /** A customer's address on which so much was paid and completed. */
    async paid(...payments: readonly (readonly ['BNB' | 'USDT', bigint])[]): Promise<AddressKey> {
      const key = keyOfHex(await live.newAddress(), 2);
      await this.pay(key, ...payments);
      return key;
    },
    async pay(key: AddressKey, ...payments: readonly (readonly ['BNB' | 'USDT', bigint])[]): Promise<void> {
      for (const [currency, units] of payments) {
        await (currency === 'USDT'
          ? chain.usdt.call('transfer', [`0x${key}`, units])
          : chain.send({ to: `0x${key}`, valueUnits: units }));
        await chain.mine();
      }
      await this.complete();
    },
    /** Every deposit that the chain permits is completed. */
    async complete(): Promise<void> {
      await chain.mine(20);
      await live.catchUp();
      const open = await rows("select id from deposits where status in ('detected', 'confirming')");
      for (const { id } of open) await advanceDeposit(deps, { depositId: String(id), alarmed: false });
    },
  };
}

/** Takes steps until one is as wanted (nothing is left to do); blocks are mined wherever one waits. */
function settling(step: (key: AddressKey) => Promise<SettlementStep>, live: Live) {
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
        await live.finish();
        await signed(live.rows);
      }
    }
    throw new Error(`it never ends: ${JSON.stringify(steps.slice(-5))}`);
  };
}

function rowsOfPayouts({ rows, deposits }: Live) {
  return {
    payouts: (key: AddressKey) =>
      rows('select * from payouts where address_key = ? order by created_at, id', [key]),
    sent: (key: AddressKey) =>
      rows(
        `select s.* from sent_transactions s join payouts p on p.id = s.payout_id where p.address_key = ?
         order by s.created_at, s.id`,
        [key],
      ),
    depositsOf: (key: AddressKey) => deposits(`0x${key}`),
    wait: async (key: AddressKey) =>
      (await rows('select * from settlement_waits where address_key = ?', [key]))[0],
  };
}

function spendingOver(urls: readonly string[], usdtContract: string): Spending {
  const rpc = createRpcPool({ name: 'bsc', urls, chainId: 56, timeoutMs: 3_000 });
  const limits = { usdtContract, maxGasPriceWei: 5n * GWEI, maxGasLimit: 200_000n };
  // Tests change the price of gas between two quotes.
  let nowMs = 0;
  return createBscSpending(rpc, limits, () => (nowMs += 60_000));
}

/** Waits until what was asked for is signed or refused. */
export async function signed(rows: (sql: string) => Promise<Row[]>): Promise<void> {
  await eventually('the signer', async () => {
    const open = await rows("select 1 from sent_transactions where state = 'asked' and refused is null");
    return open.length === 0 ? true : undefined;
  }).catch(() => undefined);
}

/** A signer over a wallet of its own, which signs while it is started. */
export async function signerOf(
  deps: Pick<SignerDeps, 'orm' | 'now'> & { readonly secretBox: unknown },
  contracts: Parameters<typeof testTransfers>[0],
) {
  const folder = await tempDir('settle-signer');
  const files = {
    seedFile: join(folder, 'wallet.json'),
    passphraseFile: join(folder, 'passphrase'),
    journalFile: join(folder, 'journal'),
  };
  writeFileSync(files.passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  await createWallet({ file: files.seedFile, passphrase: PASSPHRASE, phrase: OWN_PHRASE, now: new Date() });
  const { gas } = await readPublicParts(files.seedFile);
  let running: { readonly abort: AbortController; readonly done: Promise<void> } | undefined;
  return {
    gas,
    files,
    async start(change: Partial<SignerDeps> = {}) {
      const abort = new AbortController();
      const log = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
      const done = runSigner(
        {
          orm: deps.orm,
          ...files,
          log: log as unknown as SignerDeps['log'],
          now: deps.now,
          keys: [deps.secretBox as SignerDeps['keys'][number]],
          transfers: await testTransfers(contracts),
          limits: { perHour: () => undefined, perDay: () => undefined },
          newDestinationAfterMs: 0,
          idle: false,
          pollMs: 50,
          retryMs: 50,
          ...change,
        },
        abort.signal,
      );
      running = { abort, done };
    },
    async stop() {
      running?.abort.abort(new Error('the test stops the signer'));
      await running?.done;
      running = undefined;
    },
  };
}
