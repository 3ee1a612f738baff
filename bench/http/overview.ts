// The overview of a merchant with 1,000,000 deposits, and the list of deposits as pages
// read it beside the same list of the API.
import { Agent } from 'node:http';
import { openListPool } from '../../src/app/pools.ts';
import { listDeposits } from '../../src/services/deposits/reads.ts';
import type { Deps } from '../../src/services/deps.ts';
import { readOverview } from '../../src/services/overview/overview.ts';
import { atMost, msOf, numberOf, percentile, type Row, ratioText } from '../bench.ts';
import { withDatabase } from '../deps.ts';
import { seed } from '../seed.ts';
import { beside, read } from './apart.ts';

const CUSTOMERS = 100_000;
/** Addresses that wait for a payout, and webhooks that have failed, as after a bad week. */
const [WAITS, FAILED, ENDPOINTS] = [20_000, 20_000, 20];
const [SAMPLES, WARM] = [200, 20];
const GOAL_MS = 150;
const GOAL_RATIO = 1.5;

/** What pages do in this process beside the API, both with the connections that the product has. */
export function run(): Promise<Row[]> {
  const size = { customers: CUSTOMERS, deposits: numberOf('BENCH_DEPOSITS', 1_000_000) };
  return withDatabase(async (plain, url) => {
    const { merchantId, key } = await seed(url, size);
    await fill(plain, merchantId);
    const listOrm = await openListPool(url, 'bench');
    const deps: Deps = { ...plain, orm: listOrm };
    const scope = { merchantId, mode: 'live' as const };
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const rows = await beside({ databaseUrl: url, with: 'lists' }, async ({ api }) => {
      const [overview] = await timesOf([() => readOverview(deps, scope)]);
      const own = () => listDeposits(deps, { ...scope, page: { limit: 20 } });
      const asked = () => read(`${api}/deposits?limit=20`, key, agent);
      const [service, listed] = await timesOf([own, asked]);
      const shown = [0.5, 0.95].map((share) => {
        const ms = percentile(overview ?? [], share);
        const figure = `overview with ${size.deposits} deposits, p${share * 100}`;
        return atMost(figure, `${ms.toFixed(1)} ms`, [ms, GOAL_MS], ' ms');
      });
      const [ours, theirs] = [percentile(service ?? [], 0.5), percentile(listed ?? [], 0.5)];
      const figure = 'page of deposits as pages read it, p50 of the API’s';
      return [...shown, atMost(figure, ratioText(ours, theirs, ' ms'), [ours / theirs, GOAL_RATIO])];
    });
    agent.destroy();
    await listOrm.close(true);
    return rows;
  });
}

/** Each in turn, so that a busy moment of the machine meets all. */
async function timesOf(works: readonly (() => Promise<unknown>)[]): Promise<number[][]> {
  const times = works.map(() => [] as number[]);
  for (let sample = -WARM; sample < SAMPLES; sample += 1)
    for (const [index, work] of works.entries()) {
      const ms = await msOf(work);
      if (sample >= 0) times[index]?.push(ms);
    }
  return times;
}

/** What else an overview reads: waits of many addresses, and endpoints with failed webhooks. */
async function fill({ orm }: Deps, merchantId: string): Promise<void> {
  const em = orm.em.fork();
  await em.transactional(async (tx) => {
    await tx.execute('set local session_replication_role = replica');
    await tx.execute(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since,
         updated_at)
       select 'bsc', md5(n::text) || '00000000', ?, md5(n::text), 'USDT',
         (array['below_minimum', 'no_destination', 'paused'])[1 + n % 3], 'bench',
         now() - n * interval '1 minute', now() from generate_series(1, ?) n`,
      [merchantId, WAITS],
    );
    await tx.execute(
      `insert into webhook_endpoints (id, merchant_id, mode, url, events, enabled, secret_sealed, secret_hint,
         earlier_secrets, consecutive_failures, gone_count, created_at, updated_at)
       select gen_random_uuid(), ?, 'live', 'https://shop.example/' || n, '{*}', true, '', '', '[]', 0, 0, now(),
         now() from generate_series(1, ?) n`,
      [merchantId, ENDPOINTS],
    );
    await tx.execute(
      `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, created_at,
         finished_at)
       select id_of_delivery(e.id, w.id), e.id, w.id, 'deposit.completed', 'failed', 1, now(), now()
       from (select id_of_event(now() - n * interval '1 minute', 'deposit.completed', gen_random_uuid(), n) as id
         from generate_series(1, ?) n) e, (select id from webhook_endpoints order by id limit 1) w`,
      [FAILED],
    );
  });
  await em.execute('vacuum analyze settlement_waits');
  await em.execute('vacuum analyze webhook_deliveries');
}
