// Records the stored histories again, from real runs on real servers: `npm run histories`, or
// those of payment links alone with `npm run histories payment-link`, those of deposits on
// Tron alone with `npm run histories tron`,
// those of payouts with `npm run histories payouts`. Only until the first tag; afterwards histories
// are added, never replaced.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { USDT_UNIT } from '../../../dev/support/chain.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../../dev/support/live-money.ts';
import { stopParts } from '../../../dev/support/parts.ts';
import { startReceiver } from '../../../dev/support/receiver.ts';
import { createCustomer, createEndpoint, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { recordDecision } from '../../../src/services/deposits/decisions.ts';
import { recordPaymentHistories } from './record-payment-histories.ts';
import { recordPayoutHistories } from './record-payout-histories.ts';
import { recordTronHistories } from './record-tron-histories.ts';

const FOLDER = join(import.meta.dirname, '../../histories');
const EXHAUSTED_WITHIN_MS = 120_000;

async function store(live: LiveMoney, type: string, scenario: string, workflowId: string): Promise<void> {
  const handle = live.gateway.gateway.link?.client.workflow.getHandle(workflowId);
  if (!handle) throw new Error('Temporal is not linked');
  await eventually(`the end of ${workflowId}`, async () => ended(handle), EXHAUSTED_WITHIN_MS);
  const history = historyToJSON(await handle.fetchHistory());
  await mkdir(join(FOLDER, type), { recursive: true });
  await writeFile(join(FOLDER, type, `${scenario}.json`), `${history}\n`);
  process.stdout.write(`recorded ${type}/${scenario}\n`);
}

/** The actor is started right after the commit, so it may not be there when it is first asked for. */
async function ended(handle: WorkflowHandle): Promise<boolean> {
  const run = await handle.describe().catch(() => undefined);
  return run !== undefined && run.status.name !== 'RUNNING';
}

async function workflowIdOf(live: LiveMoney, hash: string): Promise<string> {
  const row = await eventually('the deposit', async () => (await live.deposits(hash))[0]);
  const { network, address, currency } = row as Record<'network' | 'address' | 'currency', string>;
  return `deposit:${network}:${hash}:${address}:${currency}`;
}

async function completed(live: LiveMoney): Promise<void> {
  const hash = await live.chain.usdt.call('transfer', [live.address, 25n * USDT_UNIT]);
  for (const blocks of [1, 1, 5]) {
    await live.chain.mine(blocks);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  await live.eventOf('deposit.completed', hash);
  await store(live, 'deposit', 'completed', await workflowIdOf(live, hash));
}

async function failedByReorg(live: LiveMoney): Promise<void> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  await live.eventOf('deposit.detected', hash);
  await live.chain.reorg(1);
  await live.chain.mine(6);
  await live.eventOf('deposit.failed', hash);
  await store(live, 'deposit', 'failed-by-reorg', await workflowIdOf(live, hash));
}

async function failedByOperator(live: LiveMoney): Promise<void> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  await live.eventOf('deposit.detected', hash);
  const workflowId = await workflowIdOf(live, hash);
  const command = { by: 'operator', reason: 'recorded history' };
  await recordDecision(live.gateway.deps, {
    depositId: String((await live.deposits(hash))[0]?.['id']),
    ...command,
  });
  await live.gateway.gateway.link?.client.workflow
    .getHandle(workflowId)
    .executeUpdate('fail', { args: [command] });
  await store(live, 'deposit', 'failed-by-operator', workflowId);
  await live.chain.mine(6);
}

async function alarmedThenCompleted(live: LiveMoney): Promise<void> {
  const hash = await live.chain.usdt.call('transfer', [live.address, USDT_UNIT]);
  await live.chain.mine(1);
  await live.eventOf('deposit.detected', hash);
  await eventually(
    'the alarm',
    async () => ((await live.deposits(hash))[0]?.['alarmed_at'] ?? undefined) !== undefined,
    30_000,
  );
  await live.chain.mine(6);
  await live.eventOf('deposit.completed', hash);
  await store(live, 'deposit', 'needs-operator-then-completed', await workflowIdOf(live, hash));
}

async function webhooks(live: LiveMoney): Promise<void> {
  const { deps } = live.gateway;
  const retried = await startReceiver({ behaviour: [503, 503, 200] });
  const hash = await simulated(live, retried.url);
  await store(live, 'deposit', 'webhook-retried-to-success', await workflowIdOf(live, hash));
  await store(live, 'deposit', 'simulated', await workflowIdOf(live, await simulated(live)));
  const exhausted = await startReceiver({ behaviour: 500 });
  const failing = await simulated(live, exhausted.url);
  const customer = await createCustomer(deps, {
    merchantId: live.merchantId,
    mode: 'test',
    externalId: 'notified',
    email: null,
    name: null,
    metadata: {},
  });
  const [event] = await deps.orm.em
    .fork()
    .execute<{ id: string }[]>('select id from events where subject_id = ?', [customer.id]);
  await store(live, 'deposit', 'webhook-exhausted', await workflowIdOf(live, failing));
  await store(live, 'notify', 'customer-created', `event:${event?.id}`);
  await Promise.all([retried.stop(), exhausted.stop()]);
}

let simulations = 0;

async function simulated(live: LiveMoney, receiverUrl?: string): Promise<string> {
  const { deps } = live.gateway;
  simulations += 1;
  await deps.orm.em.fork().execute('update webhook_endpoints set enabled = false where mode = ?', ['test']);
  const scope = { merchantId: live.merchantId, mode: 'test' as const };
  const customer = await createCustomer(deps, {
    ...scope,
    externalId: `history-${simulations}`,
    email: null,
    name: null,
    metadata: {},
  });
  if (receiverUrl)
    await createEndpoint(deps, { ...scope, url: receiverUrl, events: ['*'], description: null });
  const transactionHash = `0x${simulations.toString().padStart(64, '0')}`;
  const simulation = {
    network: 'bsc',
    currency: 'USDT',
    amountUnits: 10n * USDT_UNIT,
    outcome: 'completed',
    events: 'final',
  } as const;
  await simulateDeposit(deps, {
    merchantId: live.merchantId,
    customerId: customer.id,
    transactionHash,
    ...simulation,
  });
  return transactionHash;
}

async function watcher(live: LiveMoney): Promise<void> {
  await live.gateway.stopWorker();
  const handle = live.gateway.gateway.link?.client.workflow.getHandle('chain:bsc');
  const history = historyToJSON(
    (await handle?.fetchHistory()) ??
      (() => {
        throw new Error('no watcher');
      })(),
  );
  await mkdir(join(FOLDER, 'watch-chain'), { recursive: true });
  await writeFile(join(FOLDER, 'watch-chain', 'following.json'), `${history}\n`);
}

async function recordDeposits(live: LiveMoney): Promise<void> {
  await completed(live);
  await failedByReorg(live);
  await failedByOperator(live);
  await webhooks(live);
  await watcher(live);
}

async function recordAlarm(): Promise<void> {
  const impatient = await startLiveMoney({ settings: { stuckAfterMs: 3_000 } });
  await alarmedThenCompleted(impatient);
  await impatient.stop();
}

const wanted = process.argv[2] ?? 'all';
if (wanted !== 'tron' && wanted !== 'payouts') {
  const plain = await startLiveMoney();
  await recordPaymentHistories(plain, (scenario, workflowId) =>
    store(plain, 'payment-link', scenario, workflowId),
  );
  if (wanted === 'all') await recordDeposits(plain);
  await plain.stop();
}
if (wanted === 'all') await recordAlarm();
if (wanted === 'all' || wanted === 'tron')
  await recordTronHistories(async (live, scenario, hash) =>
    store(live, 'deposit', scenario, await workflowIdOf(live, hash)),
  );
if (wanted === 'all' || wanted === 'payouts') await recordPayoutHistories(store);
await stopParts();
