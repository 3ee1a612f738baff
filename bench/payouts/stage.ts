// A gateway with a merchant who is paid out, a signer as a process of its own, and coins for gas.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { startLiveMoney } from '../../dev/support/live-money.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { TEST_PHRASE } from '../../dev/support/test-wallet.ts';
import { updateMerchant } from '../../src/services/merchants/merchants.ts';
import { createWallet } from '../../src/signer/wallet-file.ts';
import { byTheClock } from '../bench.ts';
import { countOf } from '../deps.ts';
import { gatewayRole, roleEnv } from '../servers.ts';

const PASSPHRASE = 'the passphrase of a bench';
const GAS = 10n ** 20n;
/** Nobody's. */
const DESTINATION = `0x${'d1'.repeat(20)}`;
export const BLOCK_MS = 450;
const LIMIT_MS = 10 * 60_000;

export type PayoutStage = Awaited<ReturnType<typeof startPayoutStage>>;

/** Does the work with all of it; the merchant has no withdraw address yet. `env` is the gateway's. */
export async function withPayouts<T>(
  work: (stage: PayoutStage) => Promise<T>,
  env: NodeJS.ProcessEnv = {},
): Promise<T> {
  const stage = await startPayoutStage(env);
  const result = await work(stage);
  await stage.stop();
  return result;
}

async function startPayoutStage(env: NodeJS.ProcessEnv) {
  const live = await startLiveMoney({ env: { SETTLE_MAX_FEE_PERCENT: '100', ...env } });
  const { chain, merchantId } = live;
  const { deps } = live.gateway;
  const { gas, signer } = await startSigner(live.databaseUrl, chain.usdt.address);
  await chain.send({ to: gas, valueUnits: GAS });
  await chain.mine(3);
  const count = (sql: string): Promise<number> => countOf(deps, sql);
  const isKnown = async () => (await count('gas_wallets where noted_at is not null')) > 0;
  await eventually('a watcher that knows the wallet for gas', isKnown, LIMIT_MS);
  return {
    live,
    chain,
    count,
    rows: async <T>(text: string, params: unknown[] = []) =>
      await deps.orm.em.fork().execute<T[]>(text, params),
    /** A deposit of some coins or tokens, which waits for a block; returns its hash. */
    deposit: (currency: 'USDT' | 'BNB', to: string, index = 0): Promise<string> =>
      currency === 'USDT'
        ? chain.usdt.call('transfer', [to, 10n * USDT_UNIT + BigInt(index)])
        : chain.send({ to, valueUnits: USDT_UNIT / 10n + BigInt(index) }),
    /** Mines as BNB Chain does until it is ended. */
    mining: () => byTheClock(BLOCK_MS, () => chain.mine(1)),
    /** From now on everything that was completed is paid out, or nothing more is begun. */
    payOut: async (on: boolean): Promise<void> =>
      void (await updateMerchant(deps, { merchantId, withdraw: { bsc: on ? DESTINATION : null } })),
    /** Until so many deposits are in one of these states. */
    until: async (states: string, deposits: number): Promise<void> => {
      const reached = async () => (await count(`deposits where status in (${states})`)) >= deposits;
      await eventually(`${deposits} deposits ${states}`, reached, LIMIT_MS);
    },
    stop: async () => {
      await signer.stop();
      await live.stop();
    },
  };
}

async function startSigner(databaseUrl: string, usdt: string) {
  const folder = await tempDir('bench-signer');
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('passphrase'), `${PASSPHRASE}\n`, { mode: 0o600 });
  const wallet = { file: at('wallet.json'), passphrase: PASSPHRASE, phrase: TEST_PHRASE, now: new Date() };
  const { publicParts } = await createWallet(wallet);
  const env: NodeJS.ProcessEnv = {
    ...roleEnv(databaseUrl),
    BSC_USDT_CONTRACT: usdt,
    WALLET_SEED_FILE: at('wallet.json'),
    WALLET_PASSPHRASE_FILE: at('passphrase'),
    SIGN_JOURNAL_FILE: at('journal'),
  };
  const signer = await gatewayRole({ name: 'signer', role: 'signer', folder, env });
  return { gas: publicParts.gas.bsc, signer };
}
