import { randomUUID } from 'node:crypto';
import type { TemporalLink } from '../src/temporal/client.ts';
import { USDT_UNIT } from '../test/support/chain.ts';
import { eventually } from '../test/support/eventually.ts';
import { startLiveMoney } from '../test/support/live-money.ts';
import { stopParts } from '../test/support/parts.ts';
import { startBareTemporal } from './bare-workers.ts';
import type { Row } from './row.ts';

const DEPOSITS = 240;
const LIMIT_MS = 180_000;

/** The whole gateway in one process, against the very same workflows whose activities do nothing, each on a Temporal server of its own. */
export async function run(): Promise<Row[]> {
  const bare = await bareRate();
  const real = await gatewayRate();
  await stopParts();
  return [
    { figure: 'bare workflows, deposits/s', value: bare.toFixed(1), goal: '', met: true },
    { figure: 'gateway, deposits/s', value: real.rate.toFixed(1), goal: '', met: true },
    { figure: 'gateway / bare', value: (real.rate / bare).toFixed(2), goal: '>= 0.8', met: real.rate / bare >= 0.8 },
    { figure: 'history events of a full deposit, one endpoint', value: String(real.events), goal: '<= 45', met: real.events <= 45 },
  ];
}

/** Deposits per second from the first start to the last end of the actor. */
async function bareRate(): Promise<number> {
  const temporal = await startBareTemporal();
  const { link } = temporal;
  await temporal.work({
    // As in the gateway, whose deposits here are final from the start: one step makes both transitions.
    advanceDeposit: async () => {
      const at = { state: 'completed', sequence: 3, generation: 1, since: new Date().toISOString() };
      return { ...at, deliveries: [randomUUID(), randomUUID()], note: '' };
    },
    deliverWebhook: async () => ({ status: 'succeeded', message: '' }),
  });
  const began = Date.now();
  await Promise.all(Array.from({ length: DEPOSITS }, (_, index) => startBare(link, index)));
  await Promise.all(Array.from({ length: DEPOSITS }, (_, index) => link.client.workflow.getHandle(`bare:${index}`).result()));
  const rate = DEPOSITS / ((Date.now() - began) / 1_000);
  await temporal.stop();
  return rate;
}

function startBare(link: TemporalLink, index: number): Promise<void> {
  const depositId = randomUUID();
  return link.actors.start(`bare:${index}`, {
    workflowType: 'deposit',
    args: [{ depositId, state: 'detected', sequence: 1, generation: 1, rests: false, deliveries: [randomUUID()] }],
    attributes: { MerchantId: 'm', Network: 'bsc', DepositStage: 'detected', StageSince: new Date().toISOString(), NeedsOperator: false },
    memo: { deposit_id: depositId, transaction_hash: depositId, address: depositId, amount: '1 USDT' },
    summary: 'bare',
    fairnessKey: 'm',
  });
}

/** The same number of real transfers, already final when the watcher begins, until the last actor has ended. */
async function gatewayRate(): Promise<{ rate: number; events: number }> {
  const live = await startLiveMoney();
  await live.gateway.stopWorker();
  const customers = await Promise.all(Array.from({ length: 30 }, () => live.newCustomer()));
  for (let index = 0; index < DEPOSITS; index += 1) {
    await live.chain.usdt.call('transfer', [customers[index % customers.length]?.address, USDT_UNIT + BigInt(index)]);
    if (index % 50 === 49) await live.chain.mine(1);
  }
  await live.chain.mine(12);
  const sql = <T>(text: string): Promise<T[]> => live.gateway.deps.orm.em.fork().execute<T[]>(text);
  await live.gateway.startWorker();
  await eventually('the first deposit', async () => (await sql('select 1 from deposits limit 1')).length > 0, LIMIT_MS);
  const began = Date.now();
  await eventually(
    'every delivery',
    async () => {
      const [row] = await sql<{ done: string }>(`select count(*)::text as done from webhook_deliveries where status = 'succeeded'`);
      return Number(row?.done) === DEPOSITS * 3;
    },
    LIMIT_MS,
  );
  const rate = DEPOSITS / ((Date.now() - began) / 1_000);
  const [deposit] = await sql<{ transaction_hash: string; address: string }>('select transaction_hash, address from deposits limit 1');
  const handle = live.gateway.gateway.link?.client.workflow.getHandle(`deposit:bsc:${deposit?.transaction_hash}:${deposit?.address}:USDT`);
  await handle?.result();
  const events = (await handle?.describe())?.historyLength ?? 0;
  await live.stop();
  return { rate, events };
}
