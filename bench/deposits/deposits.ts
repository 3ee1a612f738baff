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
import { Deposit } from '../../src/db/entities/index.ts';
import { workflowIdOf } from '../../src/services/deposits/actor-message.ts';
import type { TemporalLink } from '../../src/temporal/client.ts';
import { atMost, numberOf, type Row, told } from '../bench.ts';
import { countOf } from '../deps.ts';
import { inPairs, startBareDeposit, withBareTemporal } from './bare-workers.ts';

const DEPOSITS = numberOf('BENCH_PAIR_DEPOSITS', 240);
const CUSTOMERS = 30;
const LIMIT_MS = 180_000;

/** Five pairs, and the longest histories of either side. */
export async function run(): Promise<Row[]> {
  const longest = { bare: 0, gateway: 0 };
  const noting = (side: keyof typeof longest) => (events: number) => {
    longest[side] = Math.max(longest[side], events);
  };
  const sides = {
    bare: () => bareRate(noting('bare')),
    gateway: () => gatewayRate(noting('gateway')),
  };
  const rows = await inPairs('', sides, { pairs: 5, goal: 0.85, withinMs: 15 * 60_000 });
  const figure = 'history events of a full deposit, one endpoint';
  return [
    ...rows,
    atMost(figure, String(longest.gateway), [longest.gateway, 45]),
    told('the same of a bare one', longest.bare),
  ];
}

function bareRate(note: (events: number) => void): Promise<number> {
  return withBareTemporal(async ({ link, work }) => {
    await work({
      // As in the gateway, whose deposits here are final from the start: one step makes both transitions.
      advanceDeposit: async () => {
        const at = { state: 'completed', sequence: 3, generation: 1, since: new Date().toISOString() };
        return { ...at, deliveries: [randomUUID(), randomUUID()], note: '' };
      },
      deliverWebhook: async () => ({ status: 'succeeded', message: '' }),
    });
    const ids = Array.from({ length: DEPOSITS }, (_, index) => `bare:${index}`);
    const began = Date.now();
    await Promise.all(ids.map((id) => startBareDeposit(link, id, { state: 'detected', sequence: 1 })));
    return await rateUntilTheEnd(link, ids, began, note);
  });
}

/** Deposits per second from `began` to the last end of these actors; `note` hears the longest history. */
async function rateUntilTheEnd(
  { client }: TemporalLink,
  ids: readonly string[],
  began: number,
  note: (events: number) => void,
): Promise<number> {
  const handles = ids.map((id) => client.workflow.getHandle(id));
  await Promise.all(handles.map((handle) => handle.result()));
  const perSecond = ids.length / ((Date.now() - began) / 1_000);
  const lengths = await Promise.all(handles.map(async (handle) => (await handle.describe()).historyLength));
  note(Math.max(...lengths));
  return perSecond;
}

/**
 * The same number of real transfers, already final when the watcher
 * begins. Throws where not everything was delivered at the end.
 */
async function gatewayRate(note: (events: number) => void): Promise<number> {
  const live = await startLiveMoney();
  const { deps, gateway } = live.gateway;
  await live.gateway.stopWorker();
  const customers = await Promise.all(Array.from({ length: CUSTOMERS }, () => live.newCustomer()));
  for (let index = 0; index < DEPOSITS; index += 1) {
    const { address } = customers[index % CUSTOMERS] ?? {};
    await live.chain.usdt.call('transfer', [address, USDT_UNIT + BigInt(index)]);
    if (index % 50 === 49) await live.chain.mine(1);
  }
  await live.chain.mine(12);
  await live.gateway.startWorker();
  await eventually('the first deposit', async () => (await countOf(deps, 'deposits')) > 0, LIMIT_MS);
  const began = Date.now();
  const started = async () =>
    (await countOf(deps, 'deposits')) === DEPOSITS && (await countOf(deps, 'outbox')) === 0;
  await eventually('a start of every actor', started, LIMIT_MS);
  if (!gateway.link) throw new Error('Temporal is not connected');
  const deposits = await deps.orm.em.fork().find(Deposit, {});
  const rate = await rateUntilTheEnd(gateway.link, deposits.map(workflowIdOf), began, note);
  const delivered = await countOf(deps, `webhook_deliveries where status = 'succeeded'`);
  if (delivered !== DEPOSITS * 3) throw new Error(`${delivered} of ${DEPOSITS * 3} webhooks were delivered`);
  await live.stop();
  return rate;
}
