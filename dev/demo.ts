import { mkdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Customer, createClient, type GatewayClient } from '../packages/sdk/src/client.ts';
import type { Deposit } from '../packages/sdk/src/types.ts';
import { type DataDir, openDataDir } from '../src/base/data-dir.ts';
import { stopAllChildren } from '../src/base/processes.ts';
import type { Network } from '../src/domain/assets.ts';
import { confirmationsText } from '../src/domain/deposit.ts';
import { depositWorkflowId } from '../src/domain/ids.ts';
import { startDemoBnbChain } from './demo/bnb-chain.ts';
import type { DemoChain, Payment } from './demo/chain.ts';
import { runCommand, startGatewayProcess } from './demo/gateway-process.ts';
import { fundGas, withdrawOptions } from './demo/payouts.ts';
import { type ForPeople, prepareForPeople } from './demo/people.ts';
import { type DemoReceiver, startDemoReceiver } from './demo/receiver.ts';
import { createScreen, type Screen } from './demo/screen.ts';
import { countTaken, expectedEvents, faultsIn } from './demo/tally.ts';
import { startDemoTron } from './demo/tron.ts';

/**
 * The main job with real parts: PostgreSQL, Temporal with its Web UI, an EVM node, a double of a Tron node,
 * the gateway as its own process, a transfer of USDT and of the coin on each chain, and two receivers, one of
 * which fails at first. `--exit` ends after the summary, with 0 only if everything arrived as promised.
 */
const DATA_DIR = process.env['DEMO_DATA_DIR'] ?? join(import.meta.dirname, '../.data/demo');
const GATEWAY_DIR = join(DATA_DIR, 'gateway');
const PAYMENTS: Readonly<Record<Network, readonly Payment[]>> = {
  bsc: [
    { currency: 'USDT', amount: '25.5' },
    { currency: 'BNB', amount: '0.125' },
  ],
  tron: [
    { currency: 'USDT', amount: '98.75' },
    { currency: 'TRX', amount: '64.000001' },
  ],
};
const ARRIVES_WITHIN_MS = 150_000;
const POLL_MS = 150;

type Json = Record<string, unknown>;
type Sent = Payment & {
  readonly network: Network;
  readonly chain: string;
  readonly to: string;
  readonly hash: string;
};
type Stage = {
  readonly apiUrl: string;
  readonly key: string;
  readonly ui: string;
  readonly people: ForPeople;
  readonly sent: readonly Sent[];
  /** As the API shows them in the end. */
  readonly deposits: readonly Deposit[];
};

async function main(): Promise<number> {
  const exits = process.argv.includes('--exit');
  const unknown = process.argv.slice(2).filter((argument) => argument !== '--exit');
  if (unknown.length > 0) {
    process.stderr.write(`The demo knows only --exit, not ${unknown.join(' ')}.\n`);
    return 2;
  }
  const screen = createScreen(Date.now());
  let folder: DataDir | undefined;
  const chains: DemoChain[] = [];
  const receivers: DemoReceiver[] = [];
  const leave = async (): Promise<void> => {
    await Promise.all([...receivers, ...chains].map((part) => part.stop()));
    await stopAllChildren();
    folder?.release();
  };
  try {
    folder = await prepareFolder(screen);
    receivers.push(
      await startDemoReceiver('healthy', 0, screen),
      await startDemoReceiver('flaky', 2, screen),
    );
    const stage = await play(screen, chains, receivers);
    const ok = await finish(screen, stage, receivers);
    if (!exits) await untilInterrupted(screen);
    await leave();
    return ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
    await leave();
    return 1;
  }
}

/**
 * A demo begins with an empty folder: its chain is a new one
 * each time. What a killed demo left running is stopped first.
 */
async function prepareFolder(screen: Screen): Promise<DataDir> {
  mkdirSync(DATA_DIR, { recursive: true });
  const folder = await openDataDir(DATA_DIR, (line) => screen.line(`  ${line}`));
  for (const name of ['gateway', 'gateway.log'])
    rmSync(join(DATA_DIR, name), { recursive: true, force: true });
  return folder;
}

async function play(screen: Screen, chains: DemoChain[], receivers: readonly DemoReceiver[]): Promise<Stage> {
  screen.stage('Servers');
  chains.push(
    await screen.step('BNB Chain: an EVM node and a test USDT on it', () =>
      startDemoBnbChain(DATA_DIR, screen),
    ),
    await screen.step('Tron: a double of its node and a test USDT on it', () =>
      startDemoTron(DATA_DIR, screen),
    ),
  );
  const env = gatewayEnv(chains);
  const logFile = join(DATA_DIR, 'gateway.log');
  const { ready } = await screen.step('the gateway with PostgreSQL, Temporal and a new wallet', () =>
    startGatewayProcess({ env, dataDir: DATA_DIR, logFile, screen }),
  );
  screen.stage('A merchant and a customer');
  const merchant = await screen.step('a merchant with keys and a wallet of his own', () =>
    runCommand(['merchant', 'create', '--name', 'Demo shop', ...withdrawOptions(chains)], env),
  );
  await fundGas(chains, env, screen);
  const keys = merchant['keys'] as Json;
  const key = String(keys['live']);
  const client = createClient({ baseUrl: ready.api, apiKey: key });
  for (const receiver of receivers) {
    const { secret } = await client.endpoints.create({
      url: receiver.url,
      events: ['*'],
      description: `${receiver.name} receiver`,
    });
    receiver.setSecret(secret);
    screen.line(`✓ webhook endpoint ${receiver.url} (${receiver.name})`);
  }
  const customer = await client.customers.create({ external_id: 'user-42', email: 'customer@example.com' });
  screen.line(`✓ customer ${customer.id}`);
  const own = { api: ready.api, merchantId: String(merchant['merchant_id']), testKey: String(keys['test']) };
  const people = await prepareForPeople(own, env, screen);
  screen.stage('Money');
  const sent = await payAll(chains, customer, screen);
  const deposits = await screen.step('watching until blocks are final, and all is paid out and told', () =>
    watch(screen, client, sent, receivers),
  );
  return { apiUrl: ready.api, key, ui: ready.temporal_ui, people, sent, deposits };
}

function gatewayEnv(chains: readonly DemoChain[]): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_ENV: 'development',
    DATA_DIR: GATEWAY_DIR,
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'info',
  };
  for (const chain of chains) Object.assign(env, chain.env);
  return env;
}

async function payAll(chains: readonly DemoChain[], customer: Customer, screen: Screen): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const { network, name: chain, pay } of chains) {
    const to = customer.addresses.find((address) => address.network === network)?.address ?? '';
    screen.line(`the customer's address on ${chain} is ${to}`);
    for (const { currency, amount } of PAYMENTS[network]) {
      const hash = await pay({ to, currency, amount });
      screen.line(`→ sent ${amount} ${currency} in ${hash}`);
      sent.push({ network, chain, to, currency, amount, hash });
    }
  }
  return sent;
}

/**
 * Prints every state change until all deposits are paid out and every receiver has everything. Returns the
 * deposits as they are then, or as they are when the time is up.
 */
async function watch(
  screen: Screen,
  client: GatewayClient,
  sent: readonly Sent[],
  receivers: readonly DemoReceiver[],
): Promise<readonly Deposit[]> {
  const shown = new Map<string, string>();
  const expected = expectedEvents(sent);
  const until = Date.now() + ARRIVES_WITHIN_MS;
  for (;;) {
    const { data: deposits } = await client.deposits.list();
    for (const deposit of deposits) {
      if (shown.get(deposit.id) === deposit.status) continue;
      shown.set(deposit.id, deposit.status);
      screen.line(stateOf(deposit));
    }
    const done = sent.every((payment) => isDone(payment, deposits));
    const all = receivers.every(({ seen }) => countTaken(seen.values(), expected) === expected.length);
    if ((done && all) || Date.now() >= until) return deposits;
    await sleep(POLL_MS);
  }
}

function stateOf(deposit: Deposit): string {
  const { network, status, amount, currency, amount_usd: usd } = deposit;
  const { confirmations, required_confirmations: required } = deposit;
  const value = usd === null ? '' : ` (${usd} USD)`;
  const where = `${confirmationsText(confirmations, required)} confirmations`;
  return `deposit  ${status.padEnd(10)} ${network.padEnd(4)} ${amount} ${currency}${value}, ${where}`;
}

/** One deposit of just this amount came of the payment, and it is paid out. */
function isDone({ network, to, currency, amount, hash }: Sent, deposits: readonly Deposit[]): boolean {
  const [deposit, ...more] = deposits.filter((one) => one.transaction_hash === hash);
  return (
    deposit?.status === 'settled' &&
    deposit.settlement !== null &&
    more.length === 0 &&
    deposit.network === network &&
    deposit.address === to &&
    deposit.currency === currency &&
    deposit.amount === amount
  );
}

async function finish(screen: Screen, stage: Stage, receivers: readonly DemoReceiver[]): Promise<boolean> {
  screen.stage('Summary');
  const { sent, deposits } = stage;
  const done = sent.filter((payment) => isDone(payment, deposits));
  let ok = done.length === sent.length && deposits.length === sent.length;
  screen.line(
    `${ok ? '✓' : '✗'} ${done.length} of ${sent.length} payments are deposits of just what was sent, and paid out; ${deposits.length} deposits in all`,
  );
  for (const { settlement, network, currency } of deposits)
    if (settlement)
      screen.line(
        `✓ paid out: ${settlement.amount} ${currency} to ${settlement.destination} on ${network} for ${settlement.fee_amount} ${settlement.fee_currency}`,
      );
  const expected = expectedEvents(sent);
  for (const receiver of receivers) {
    const entries = [...receiver.seen.values()];
    const faults = faultsIn(entries, expected);
    ok &&= faults.length === 0;
    const attempts = entries.reduce((sum, entry) => sum + entry.attempts, 0);
    const signed = entries.every((entry) => entry.verified) ? 'verified' : 'NOT verified';
    screen.line(
      `${faults.length === 0 ? '✓' : '✗'} ${receiver.name}: ${countTaken(entries, expected)} of ${expected.length} events taken exactly once, ${attempts} attempts, every signature ${signed}`,
    );
    for (const fault of faults) screen.line(`  ${fault}`);
  }
  process.stdout.write(lastLines(stage, ok));
  return ok;
}

function lastLines({ apiUrl, key, ui, people, sent }: Stage, ok: boolean): string {
  const namespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
  const links = sent.map(({ network, chain, to, currency, hash }) => {
    const workflowId = depositWorkflowId({ network, txHash: hash, address: to, currency, generation: 1 });
    const label = `${currency} on ${chain}`.padEnd(18);
    return `  ${label}${ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`;
  });
  return [
    '',
    `  dashboard         ${people.dashboard}`,
    `  sign in with      ${people.email} and ${people.password}`,
    `  checkout          ${people.checkout} (test mode: it has a form that simulates the payment)`,
    `  API               ${apiUrl}`,
    `  its reference     ${new URL('/docs', apiUrl).href}`,
    `  its deposits in the Web UI of Temporal:`,
    ...links,
    `  try it            curl -s -H 'Authorization: Bearer ${key}' '${apiUrl}/deposits?limit=5'`,
    `  command line      DATA_DIR=${relative(process.cwd(), GATEWAY_DIR)} npm run gateway -- deposit list`,
    `  log               ${join(DATA_DIR, 'gateway.log')}`,
    '',
    ok
      ? '  Every payment was credited, and every event arrived exactly once with a valid signature.'
      : '  NOT everything arrived as promised; the log says more.',
    '',
    '',
  ].join('\n');
}

async function untilInterrupted(screen: Screen): Promise<void> {
  screen.line('The gateway stays up. Press Ctrl-C to stop everything.');
  const keepAlive = setInterval(() => undefined, 60_000);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
  clearInterval(keepAlive);
  screen.line('stopping');
}

process.exitCode = await main();
