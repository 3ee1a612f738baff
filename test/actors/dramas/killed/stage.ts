// Worker and signer as processes of their own over real servers, as production runs them: the worker knows
// no key, and the signer no chain. Customers pay, blocks come by a clock that a test can stop, and either
// process may be killed.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../../dev/support/eventually.ts';
import { SECRETS_KEY } from '../../../../dev/support/live-gateway.ts';
import { addressOn } from '../../../../dev/support/live-money.ts';
import { migratedDatabase, ownNamespace, tempDir } from '../../../../dev/support/parts.ts';
import { startReceiver } from '../../../../dev/support/receiver.ts';
import { createCustomer, createEndpoint } from '../../../../dev/support/use-cases.ts';
import { composeGateway, type Gateway } from '../../../../src/app/compose.ts';
import { createLogger } from '../../../../src/base/log.ts';
import { byNetwork } from '../../../../src/chains/index.ts';
import { loadConfig } from '../../../../src/config/index.ts';
import { Deposit } from '../../../../src/db/entities/index.ts';
import { chainWorkflowId } from '../../../../src/domain/ids.ts';
import { depositWake, workflowIdOf } from '../../../../src/services/deposits/actor-message.ts';
import { createMerchant, updateMerchant } from '../../../../src/services/merchants/merchants.ts';
import { setPaused } from '../../../../src/services/payouts/pauses.ts';
import { settlementWake } from '../../../../src/services/payouts/wakes.ts';
import { createWallet, readPublicParts } from '../../../../src/signer/wallet-file.ts';
import type { TemporalPlace } from '../../../../src/temporal/place.ts';
import { OWN_PHRASE, ownXpubs, type Row } from '../../../services/watcher/test-watcher.ts';
import { type GatewayChild, startGatewayChild } from '../../../support/gateway-child.ts';
import { openGates } from './gates.ts';
import { BLOCK_EVERY_MS, type PayingChain } from './paying-chain.ts';
import { startPayingChains } from './paying-chains.ts';

const OPERATOR = { kind: 'operator', name: 'Ann', from: null } as const;
const PASSPHRASE = 'the passphrase of what is killed';
/** What a failed wait shows: each deposit that is not settled, with its payout and what that waits for. */
const STANDING = `select d.network, d.currency, d.status, d.failure_code, p.state as payout, w.code, w.reason,
    (select array_agg(t.purpose || ' ' || t.state) from sent_transactions t where t.payout_id = p.id) as sent
  from deposits d left join payouts p on p.id = d.payout_id
    left join settlement_waits w on (w.network, w.address_key) = (d.network, d.address_key)
  where d.status <> 'settled'`;
const COMMON: NodeJS.ProcessEnv = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
  PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
  DUST_FLOOR: 'none',
};

/** A payment of a customer that has to be paid out once. */
export type Paid = {
  readonly chain: PayingChain;
  readonly address: string;
  readonly hash: string;
  readonly currency: 'USDT' | 'coin';
  readonly units: bigint;
};
export type KillingStage = Awaited<ReturnType<typeof startKillingStage>>;

/** Starts servers, chains, and a merchant with a receiver; no worker, signer or withdraw address yet. */
export async function startKillingStage() {
  const [chains, temporal, { url: databaseUrl }, wallet] = await Promise.all([
    startPayingChains(),
    ownNamespace(),
    migratedDatabase(),
    walletFiles(),
  ]);
  const env = { ...COMMON, ...Object.assign({}, ...chains.map((chain) => chain.env)) };
  const gateway = await composedOf(env, databaseUrl, temporal.now);
  const { deps } = gateway;
  const { merchantId } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
  const receiver = await startReceiver();
  const endpoint = await createEndpoint(deps, {
    merchantId,
    mode: 'live',
    url: receiver.url,
    events: ['deposit.settled'],
    description: null,
  });
  receiver.setSecret(endpoint.secret);
  const gates = await openGates(databaseUrl);
  const clock = startClock(chains);
  const processes = processesOf({ ...env, DATABASE_URL: databaseUrl }, temporal.now, wallet);
  return {
    chains,
    gateway,
    deps,
    merchantId,
    receiver,
    gates,
    clock,
    journalFile: wallet.env.SIGN_JOURNAL_FILE,
    ...processes,
    ...paymentsOf(gateway, merchantId),
    ...actorsOf(gateway),
    rows: (sql: string, params: unknown[] = []) => deps.orm.em.fork().execute<Row[]>(sql, params),
    /** Pays to the wallet that pays for gas on each chain; a signer has told of it, or does so soon. */
    fillGasWallets: async () => {
      for (const chain of chains)
        await chain.pay({ currency: 'coin', units: chain.gasUnits }, wallet.gas[chain.network]);
      await eventually(
        'the gas wallets being noted',
        async () =>
          (await deps.orm.em.fork().execute('select 1 from gas_wallets where noted_at is not null')).length >=
          chains.length,
      );
    },
    setDestinations: () =>
      updateMerchant(deps, {
        merchantId,
        withdraw: Object.fromEntries(chains.map(({ network, destination }) => [network, destination])),
      }),
    setPaused: (paused: boolean) => setPaused({ ...deps, actor: OPERATOR }, { merchantId: null, paused }),
    async stop() {
      clock.stop();
      await processes.stopAll();
      await gates.stop();
      await gateway.close();
      await receiver.stop();
      await Promise.all(chains.map((chain) => chain.stop()));
    },
  };
}

async function walletFiles() {
  const folder = await tempDir('killed-signer');
  const seedFile = join(folder, 'wallet.json');
  const passphraseFile = join(folder, 'passphrase');
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 });
  await createWallet({ file: seedFile, passphrase: PASSPHRASE, phrase: OWN_PHRASE, now: new Date() });
  return {
    gas: (await readPublicParts(seedFile)).gas,
    env: {
      WALLET_SEED_FILE: seedFile,
      WALLET_PASSPHRASE_FILE: passphraseFile,
      SIGN_JOURNAL_FILE: join(folder, 'journal'),
    },
  };
}

async function composedOf(
  env: NodeJS.ProcessEnv,
  databaseUrl: string,
  temporal: TemporalPlace,
): Promise<Gateway> {
  const config = loadConfig(env, { role: 'all' });
  const environment = { databaseUrl, temporal, xpubs: ownXpubs(), secretsKey: SECRETS_KEY };
  const log = createLogger({ level: 'error' });
  return await composeGateway({ config, environment, log, name: 'test', poolSize: 6 });
}

/** Blocks come on every chain at once, while the clock is not stopped. */
function startClock(chains: readonly PayingChain[]) {
  let goes = true;
  const mine = (): Promise<unknown> => Promise.all(chains.map((chain) => chain.mine()));
  const timer = setInterval(() => void (goes && mine().catch(() => undefined)), BLOCK_EVERY_MS);
  return {
    mine,
    pause: () => {
      goes = false;
    },
    resume: () => {
      goes = true;
    },
    stop: () => clearInterval(timer),
  };
}

type WalletFiles = Awaited<ReturnType<typeof walletFiles>>;

function processesOf(env: NodeJS.ProcessEnv, temporal: TemporalPlace, wallet: WalletFiles) {
  const { live, test } = ownXpubs();
  const xpubs = {
    WALLET_XPUB_BSC: live.bsc,
    WALLET_XPUB_TRON: live.tron,
    WALLET_XPUB_TEST_BSC: test.bsc,
    WALLET_XPUB_TEST_TRON: test.tron,
  };
  const place = { TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: temporal.namespace };
  const running = new Set<GatewayChild>();
  const noted = async (starting: Promise<GatewayChild>): Promise<GatewayChild> => {
    const child = await starting;
    running.add(child);
    return child;
  };
  return {
    startWorker: () => noted(startGatewayChild({ ...env, ...xpubs, ...place }, 'worker')),
    startSigner: () => noted(startGatewayChild({ ...env, ...wallet.env }, 'signer')),
    /** SIGKILL. */
    async kill(child: GatewayChild): Promise<void> {
      running.delete(child);
      await child.child.kill();
    },
    stopAll: () => Promise.all([...running].map(({ child }) => child.kill().catch(() => undefined))),
  };
}

function paymentsOf({ deps }: Gateway, merchantId: string) {
  const paid: Paid[] = [];
  let customers = 0;
  return {
    paid,
    /** A new customer; tells the addresses by network. */
    async newCustomer() {
      customers += 1;
      const made = await createCustomer(deps, {
        merchantId,
        mode: 'live',
        externalId: `user-${customers}`,
        email: null,
        name: null,
        metadata: {},
      });
      return byNetwork(({ network }) => addressOn(made, network));
    },
    /** Pays what is worth paying out, and a little more each time. */
    async pay(chain: PayingChain, address: string, currency: Paid['currency']): Promise<void> {
      const units = chain.worth[currency] + BigInt(paid.length);
      paid.push({ chain, address, currency, units, hash: await chain.pay({ currency, units }, address) });
    },
    /** Waits until every payment has become a deposit in one of these states. */
    async reach(...states: readonly string[]): Promise<void> {
      const counted = `select 1 from deposits where status in (${states.map(() => '?').join(', ')})`;
      await eventually(
        `every deposit being ${states.join(' or ')}`,
        async () => (await deps.orm.em.fork().execute(counted, [...states])).length === paid.length,
        90_000,
        async () => await deps.orm.em.fork().execute(STANDING),
      );
    },
  };
}

function actorsOf({ deps }: Gateway) {
  return {
    /**
     * Replaces the actors that wait for a dead worker's answer. Temporal would give their steps to another
     * one by itself, when the time of a step is over: three quarters of a minute for each kill. The watchers
     * are left alone where a living worker has them.
     */
    async replaceActors(watchers: 'with the watchers' | 'but the watchers'): Promise<void> {
      const { actors } = deps;
      if (!actors) throw new Error('there is no Temporal');
      const open = await deps.orm.em.fork().find(Deposit, { status: { $ne: 'settled' } });
      const wakes = [
        ...new Map(open.filter(({ status }) => status === 'completed').map(settlementWake)),
        ...open.map((deposit) => [workflowIdOf(deposit), depositWake(deposit)] as const),
        ...(watchers === 'but the watchers' ? [] : deps.settings.payouts.networks).map(
          (network) =>
            [
              chainWorkflowId(network),
              { workflowType: 'watchChain', args: [{ network }], attributes: { Network: network } },
            ] as const,
        ),
      ];
      // One after the other, and again where Temporal has too much to do: it works for all of them meanwhile.
      for (const [id, message] of wakes)
        await eventually(`another actor for ${id}`, () =>
          actors.start(id, message, { replace: true }).then(
            () => true,
            () => false,
          ),
        );
    },
  };
}
