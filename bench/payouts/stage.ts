// A gateway with a merchant who is paid out, a signer as a process of its own, and coins for gas.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../dev/support/live-gateway.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';
import { tempDir } from '../../dev/support/parts.ts';
import { TEST_PHRASE } from '../../dev/support/test-wallet.ts';
import { updateMerchant } from '../../src/services/merchants/merchants.ts';
import { createWallet } from '../../src/signer/wallet-file.ts';
import { gatewayRole } from '../servers.ts';

const PASSPHRASE = 'the passphrase of a bench';
const GAS = 10n ** 20n;
/** Nobody's. */
const DESTINATION = `0x${'d1'.repeat(20)}`;
const BLOCK_MS = 450;
const LIMIT_MS = 10 * 60_000;

export type PayoutStage = Awaited<ReturnType<typeof startPayoutStage>>;

/** Starts everything; the merchant has no withdraw address yet. `env` is for the gateway. */
export async function startPayoutStage(env: NodeJS.ProcessEnv = {}) {
  const live = await startLiveMoney({ env: { SETTLE_MAX_FEE_PERCENT: '100', ...env } });
  const { chain, gateway } = live;
  const { gas, signer } = await startSigner(live);
  await chain.send({ to: gas, valueUnits: GAS });
  await chain.mine(3);
  const rows = async <T>(text: string, params: unknown[] = []) =>
    await gateway.deps.orm.em.fork().execute<T[]>(text, params);
  const count = async (sql: string): Promise<number> =>
    (await rows<{ n: number }>(`select count(*)::int as n from ${sql}`))[0]?.n ?? 0;
  await eventually(
    'a watcher that knows the wallet for gas',
    async () => (await count('gas_wallets where noted_at is not null')) > 0,
    LIMIT_MS,
  );
  const { merchantId } = live;
  return {
    live,
    chain,
    rows,
    count,
    /** From now on everything that was completed is paid out, or nothing more is begun. */
    payOut: async (on: boolean): Promise<void> =>
      void (await updateMerchant(gateway.deps, { merchantId, withdraw: { bsc: on ? DESTINATION : null } })),
    /** Until so many deposits are in this state. */
    until: async (state: 'completed' | 'settled', deposits: number): Promise<void> =>
      void (await eventually(
        `${deposits} deposits ${state}`,
        async () => (await count(`deposits where status = '${state}'`)) >= deposits,
        LIMIT_MS,
      )),
    stop: async () => {
      await signer.stop();
      await live.stop();
    },
  };
}

async function startSigner({ databaseUrl, chain }: LiveMoney) {
  const folder = await tempDir('bench-signer');
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('passphrase'), `${PASSPHRASE}\n`, { mode: 0o600 });
  const { publicParts } = await createWallet({
    file: at('wallet.json'),
    passphrase: PASSPHRASE,
    phrase: TEST_PHRASE,
    now: new Date(),
  });
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NODE_ENV: 'development',
    LOG_LEVEL: 'warn',
    DATABASE_URL: databaseUrl,
    BSC_USDT_CONTRACT: chain.usdt.address,
    SECRETS_KEY: SECRETS_KEY.toString('base64'),
    WALLET_SEED_FILE: at('wallet.json'),
    WALLET_PASSPHRASE_FILE: at('passphrase'),
    SIGN_JOURNAL_FILE: at('journal'),
  };
  return {
    gas: publicParts.gas.bsc,
    signer: await gatewayRole({ name: 'signer', role: 'signer', folder, env }),
  };
}

/** Mines as BNB Chain does until it is ended. */
export function mineByTheClock({ chain }: Pick<PayoutStage, 'chain'>): { end(): Promise<void> } {
  let on = true;
  const turn = async (): Promise<void> => {
    while (on) {
      const next = Date.now() + BLOCK_MS;
      await chain.mine(1);
      await sleep(Math.max(0, next - Date.now()));
    }
  };
  const ended = turn();
  return {
    end: async () => {
      on = false;
      await ended;
    },
  };
}
