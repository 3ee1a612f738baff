import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DataDir, openDataDir } from '../src/base/data-dir.ts';
import { stopAllChildren } from '../src/base/processes.ts';
import { depositWorkflowId } from '../src/domain/ids.ts';
import { type Customer, createClient, type GatewayClient } from '../src/sdk/client.ts';
import { startDemoChain } from './demo/chain.ts';
import { runCommand, startGatewayProcess } from './demo/gateway-process.ts';
import { type DemoReceiver, startDemoReceiver } from './demo/receiver.ts';
import { createScreen, type Screen } from './demo/screen.ts';

/**
 * The main job with real parts: PostgreSQL, Temporal with its Web UI, an EVM node, the gateway as its own
 * process, a real USDT and a real BNB transfer, and two receivers, one of which fails at first. `--exit` ends
 * after the summary, with 0 only if everything arrived as promised.
 */
const DATA_DIR = process.env['DEMO_DATA_DIR'] ?? join(import.meta.dirname, '../.data/demo');
const AMOUNTS = { usdt: '25.5', bnb: '0.125' } as const;
const ARRIVES_WITHIN_MS = 150_000;
const POLL_MS = 150;
/** One customer.created, and detected, confirming and completed of two deposits. */
const EVENTS_EXPECTED = 7;

type Json = Record<string, unknown>;
type Stage = {
  readonly apiUrl: string;
  readonly key: string;
  readonly ui: string;
  readonly customer: Customer;
  readonly hashes: readonly string[];
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
  const receivers: DemoReceiver[] = [];
  const leave = async (): Promise<void> => {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    await stopAllChildren();
    folder?.release();
  };
  try {
    folder = await prepareFolder(screen);
    receivers.push(
      await startDemoReceiver('healthy', 0, screen),
      await startDemoReceiver('flaky', 2, screen),
    );
    const stage = await play(screen, receivers);
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

async function play(screen: Screen, receivers: readonly DemoReceiver[]): Promise<Stage> {
  screen.stage('Servers');
  const chain = await screen.step('an EVM node and a test USDT on it', () =>
    startDemoChain(DATA_DIR, screen),
  );
  const env = gatewayEnv(chain.anvil.url, chain.usdt);
  const logFile = join(DATA_DIR, 'gateway.log');
  const { ready } = await screen.step('the gateway with PostgreSQL, Temporal and a new wallet', () =>
    startGatewayProcess({ env, dataDir: DATA_DIR, logFile, screen }),
  );
  screen.stage('A merchant and a customer');
  const merchant = await screen.step('a merchant with keys', () =>
    runCommand(['merchant', 'create', '--name', 'Demo shop'], env),
  );
  const key = String((merchant['keys'] as Json)['live']);
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
  const address = bscAddressOf(customer);
  screen.line(`✓ customer ${customer.id} with the BNB Chain address ${address}`);
  screen.stage('Money');
  const { usdtHash, bnbHash } = await chain.pay(address, AMOUNTS.usdt, AMOUNTS.bnb);
  screen.line(`→ sent ${AMOUNTS.usdt} USDT in ${usdtHash}`);
  screen.line(`→ sent ${AMOUNTS.bnb} BNB  in ${bnbHash}`);
  const hashes = [usdtHash, bnbHash];
  await watch(screen, client, hashes, receivers);
  return { apiUrl: ready.api, key, ui: ready.temporal_ui, customer, hashes };
}

function gatewayEnv(rpcUrl: string, usdt: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    NODE_ENV: 'development',
    DATA_DIR: join(DATA_DIR, 'gateway'),
    BSC_RPC_URLS: rpcUrl,
    BSC_CHAIN_ID: '56',
    BSC_USDT_CONTRACT: usdt,
    PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
    LOG_LEVEL: 'info',
  };
}

/** Prints every state change until both deposits are completed and every receiver has everything. */
async function watch(
  screen: Screen,
  client: GatewayClient,
  hashes: readonly string[],
  receivers: readonly DemoReceiver[],
): Promise<void> {
  const shown = new Map<string, string>();
  const until = Date.now() + ARRIVES_WITHIN_MS;
  while (Date.now() < until) {
    const { data } = await client.deposits.list();
    const deposits = data.filter((deposit) => hashes.includes(deposit.transaction_hash));
    for (const {
      id,
      status,
      amount,
      currency,
      amount_usd: usd,
      confirmations,
      required_confirmations: required,
    } of deposits) {
      if (shown.get(id) === status) continue;
      shown.set(id, status);
      const value = usd === null ? '' : ` (${usd} USD)`;
      screen.line(
        `deposit  ${status.padEnd(10)} ${amount} ${currency}${value}, ${confirmations} of ${required} confirmations`,
      );
    }
    const done = deposits.length === hashes.length && deposits.every(({ status }) => status === 'completed');
    if (done && receivers.every((receiver) => accepted(receiver) >= EVENTS_EXPECTED)) return;
    await sleep(POLL_MS);
  }
}

const accepted = (receiver: DemoReceiver): number =>
  [...receiver.seen.values()].filter((entry) => entry.accepted > 0).length;

async function finish(screen: Screen, stage: Stage, receivers: readonly DemoReceiver[]): Promise<boolean> {
  screen.stage('Summary');
  let ok = true;
  for (const receiver of receivers) {
    const entries = [...receiver.seen.values()];
    const good =
      entries.length === EVENTS_EXPECTED && entries.every((entry) => entry.accepted === 1 && entry.verified);
    ok &&= good;
    const attempts = entries.reduce((sum, entry) => sum + entry.attempts, 0);
    screen.line(
      `${good ? '✓' : '✗'} ${receiver.name}: ${accepted(receiver)} of ${EVENTS_EXPECTED} events taken exactly once, ${attempts} attempts, every signature ${entries.every((entry) => entry.verified) ? 'verified' : 'NOT verified'}`,
    );
  }
  const [usdtHash = ''] = stage.hashes;
  const workflowId = depositWorkflowId({
    network: 'bsc',
    txHash: usdtHash,
    address: bscAddressOf(stage.customer),
    currency: 'USDT',
    generation: 1,
  });
  const namespace = process.env['TEMPORAL_NAMESPACE'] ?? 'default';
  process.stdout.write(
    [
      '',
      `  API             ${stage.apiUrl}`,
      `  its reference   ${new URL('/docs', stage.apiUrl).href}`,
      `  this deposit    ${stage.ui}/namespaces/${namespace}/workflows/${encodeURIComponent(workflowId)}`,
      `  try it          curl -s -H 'Authorization: Bearer ${stage.key}' '${stage.apiUrl}/deposits?limit=5'`,
      `  log             ${join(DATA_DIR, 'gateway.log')}`,
      '',
      ok
        ? '  Every event arrived exactly once with a valid signature.'
        : '  NOT every event arrived as promised; the log says more.',
      '',
      '',
    ].join('\n'),
  );
  return ok;
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

function bscAddressOf(customer: Customer): string {
  return customer.addresses.find(({ network }) => network === 'bsc')?.address ?? '';
}

process.exitCode = await main();
