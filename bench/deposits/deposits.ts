// How much of what Temporal alone can do is left of the gateway.
//
// The bare side has the very same workflows from the same bundle, the same workers with the same limits, a
// Temporal server of its own of the same kind, the same starts (attributes, memo, turns of merchants) and as
// many activities for a deposit: one step and three deliveries. It lacks everything else: PostgreSQL, the
// outbox, the watcher and its blocks, the webhooks themselves and their receiver, the loops. Both clocks run
// from the first deposit to the end of the last actor, and how long the histories became is printed for both.
import { randomUUID } from 'node:crypto';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { startLiveMoney } from '../../dev/support/live-money.ts';
import { stopParts } from '../../dev/support/parts.ts';
import { Deposit } from '../../src/db/entities/index.ts';
import { workflowIdOf } from '../../src/services/deposits/actor-message.ts';
import type { TemporalLink } from '../../src/temporal/client.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { startBareTemporal } from './bare-workers.ts';

/** `BENCH_PAIRS` and `BENCH_PAIR_DEPOSITS` make a quick run; the goal holds for the numbers here. */
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 5);
const DEPOSITS = Number(process.env['BENCH_PAIR_DEPOSITS'] ?? 240);
const CUSTOMERS = 30;
const LIMIT_MS = 180_000;
/** No pair begins later. */
const BEGIN_WITHIN_MS = 15 * 60_000;

type Rate = { readonly perSecond: number; readonly events: number };
type Pair = { readonly bare: Rate; readonly gateway: Rate };

/** Pairs of runs, each side first in turn. A ratio is taken within a pair, and their median counts. */
export async function run(): Promise<Row[]> {
  const began = Date.now();
  const pairs: Pair[] = [];
  while (pairs.length < PAIRS && Date.now() - began < BEGIN_WITHIN_MS) {
    pairs.push(await measurePair(pairs.length % 2 === 0));
    process.stderr.write(`  pair ${pairs.length} of ${PAIRS}: ${describe(pairs.at(-1) as Pair)}\n`);
  }
  await stopParts();
  const median = percentile(pairs.map(ratioOf), 0.5);
  const events = Math.max(...pairs.map(({ gateway }) => gateway.events));
  return [
    ...pairs.map((pair, index) => ({
      figure: `gateway / bare, pair ${index + 1}`,
      value: describe(pair),
      goal: '',
      met: true,
    })),
    {
      figure: `gateway / bare, median of ${pairs.length}`,
      value: median.toFixed(2),
      goal: '>= 0.85',
      met: median >= 0.85,
    },
    {
      figure: 'history events of a full deposit, one endpoint',
      value: String(events),
      goal: '<= 45',
      met: events <= 45,
    },
    { figure: 'the same of a bare one', value: String(pairs[0]?.bare.events), goal: '', met: true },
  ];
}

const ratioOf = ({ bare, gateway }: Pair): number => gateway.perSecond / bare.perSecond;

const describe = (pair: Pair): string =>
  `${ratioOf(pair).toFixed(2)} (${pair.gateway.perSecond.toFixed(1)}/s of ${pair.bare.perSecond.toFixed(1)}/s)`;

async function measurePair(bareFirst: boolean): Promise<Pair> {
  if (bareFirst) {
    const bare = await bareRate();
    return { bare, gateway: await gatewayRate() };
  }
  const gateway = await gatewayRate();
  return { gateway, bare: await bareRate() };
}

async function bareRate(): Promise<Rate> {
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
  const ids = Array.from({ length: DEPOSITS }, (_, index) => `bare:${index}`);
  const began = Date.now();
  await Promise.all(ids.map((id) => startBare(link, id)));
  const rate = await rateUntilTheEnd(link, ids, began);
  await temporal.stop();
  return rate;
}

function startBare(link: TemporalLink, id: string): Promise<void> {
  const depositId = randomUUID();
  return link.actors.start(id, {
    workflowType: 'deposit',
    args: [
      { depositId, state: 'detected', sequence: 1, generation: 1, rests: false, deliveries: [randomUUID()] },
    ],
    attributes: {
      MerchantId: 'm',
      Network: 'bsc',
      DepositStage: 'detected',
      StageSince: new Date().toISOString(),
      NeedsOperator: false,
    },
    memo: { deposit_id: depositId, transaction_hash: depositId, address: depositId, amount: '1 USDT' },
    summary: 'bare',
    owner: { merchantId: 'm', mode: 'live' },
  });
}

/** Deposits per second from `began` to the last end of these actors, and the longest history among them. */
async function rateUntilTheEnd(link: TemporalLink, ids: readonly string[], began: number): Promise<Rate> {
  const handles = ids.map((id) => link.client.workflow.getHandle(id));
  await Promise.all(handles.map((handle) => handle.result()));
  const perSecond = ids.length / ((Date.now() - began) / 1_000);
  const lengths = await Promise.all(handles.map(async (handle) => (await handle.describe()).historyLength));
  return { perSecond, events: Math.max(...lengths) };
}

/**
 * The same number of real transfers, already final when the watcher
 * begins. Throws where not everything was delivered at the end.
 */
async function gatewayRate(): Promise<Rate> {
  const live = await startLiveMoney();
  await live.gateway.stopWorker();
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => live.newCustomer()));
  for (let index = 0; index < DEPOSITS; index += 1) {
    await live.chain.usdt.call('transfer', [
      customers[index % CUSTOMERS]?.address,
      USDT_UNIT + BigInt(index),
    ]);
    if (index % 50 === 49) await live.chain.mine(1);
  }
  await live.chain.mine(12);
  const count = async (sql: string): Promise<number> =>
    (
      await live.gateway.deps.orm.em.fork().execute<{ n: number }[]>(`select count(*)::int as n from ${sql}`)
    )[0]?.n ?? 0;
  await live.gateway.startWorker();
  await eventually('the first deposit', async () => (await count('deposits')) > 0, LIMIT_MS);
  const began = Date.now();
  await eventually(
    'a start of every actor',
    async () => (await count('deposits')) === DEPOSITS && (await count('outbox')) === 0,
    LIMIT_MS,
  );
  const { link } = live.gateway.gateway;
  if (!link) throw new Error('Temporal is not connected');
  const deposits = await live.gateway.deps.orm.em.fork().find(Deposit, {});
  const rate = await rateUntilTheEnd(link, deposits.map(workflowIdOf), began);
  const delivered = await count(`webhook_deliveries where status = 'succeeded'`);
  if (delivered !== DEPOSITS * 3) throw new Error(`${delivered} of ${DEPOSITS * 3} webhooks were delivered`);
  await live.stop();
  return rate;
}
