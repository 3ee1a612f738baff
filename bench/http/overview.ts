// The overview of a merchant with 1,000,000 deposits, and the list of deposits as pages
// read it beside the same list of the API.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../src/api/app.ts';
import { createServer } from '../../src/api/server.ts';
import { openListPool } from '../../src/app/pools.ts';
import { openOrm } from '../../src/db/orm.ts';
import { startPostgres } from '../../src/embedded/postgres.ts';
import { listDeposits } from '../../src/services/deposits/reads.ts';
import type { Deps } from '../../src/services/deps.ts';
import { readOverview } from '../../src/services/overview/overview.ts';
import type { Scope } from '../../src/services/scope.ts';
import { depsOf, generousGuards } from '../bench-deps.ts';
import { percentile } from '../percentile.ts';
import type { Row } from '../row.ts';
import { seed } from '../seed.ts';

const DEPOSITS = Number.parseInt(process.env['BENCH_DEPOSITS'] ?? '1000000', 10);
const CUSTOMERS = 100_000;
/** Addresses that wait for a payout, and webhooks that have failed, as after a bad week. */
const WAITS = 20_000;
const FAILED = 20_000;
const ENDPOINTS = 20;
const SAMPLES = 200;
const WARM = 20;
const GOAL_MS = 150;
const GOAL_RATIO = 1.5;
const POOL_SIZE = 10;

/** Everything in this process, with the connections that lists have in the product. */
export async function run(): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  const postgres = await startPostgres({ dataDir: folder, fsync: false, log: () => undefined });
  try {
    return await measure(postgres.url);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(url: string): Promise<Row[]> {
  const orm = await openOrm({ url, poolSize: POOL_SIZE, applicationName: 'bench', statementTimeoutMs: 0 });
  await orm.migrator.up();
  const { merchantId, key } = await seed(url, { customers: CUSTOMERS, deposits: DEPOSITS, history: false });
  await fill(orm.em.fork(), merchantId);
  const listOrm = await openListPool(url, 'bench');
  const deps: Deps = { ...depsOf(orm), orm: listOrm };
  const scope: Scope = { merchantId, mode: 'live' };
  const app = createApp({ deps: depsOf(orm), listOrm, guards: generousGuards(deps), checkResponses: false });
  const server = createServer(app);
  const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
  try {
    const overview = await times(() => readOverview(deps, scope));
    const page = { limit: 20 };
    const [service, api]: [number[], number[]] = [[], []];
    // In turn, so that a busy moment of the machine meets both.
    for (let sample = -WARM; sample < SAMPLES; sample += 1) {
      const [own, theirs] = [
        await taken(() => listDeposits(deps, { ...scope, page })),
        await taken(() => asked(`http://127.0.0.1:${port}/api/v1/deposits?limit=20`, key)),
      ];
      if (sample < 0) continue;
      service.push(own);
      api.push(theirs);
    }
    return [...overviewRows(overview), listRow(service, api)];
  } finally {
    await server.close();
    await listOrm.close(true);
    await orm.close(true);
  }
}

function overviewRows(overview: readonly number[]): Row[] {
  return [0.5, 0.95].map((share) => {
    const ms = percentile(overview, share);
    const figure = `overview with ${DEPOSITS} deposits, p${share * 100}`;
    return { figure, value: `${ms.toFixed(1)} ms`, goal: `≤ ${GOAL_MS} ms`, met: ms <= GOAL_MS };
  });
}

function listRow(service: readonly number[], api: readonly number[]): Row {
  const [own, theirs] = [percentile(service, 0.5), percentile(api, 0.5)];
  const ratio = own / theirs;
  return {
    figure: 'page of deposits as pages read it, p50 of the API’s',
    value: `${ratio.toFixed(2)} (${own.toFixed(1)} ms of ${theirs.toFixed(1)} ms)`,
    goal: `≤ ${GOAL_RATIO}`,
    met: ratio <= GOAL_RATIO,
  };
}

async function times(work: () => Promise<unknown>): Promise<number[]> {
  const all: number[] = [];
  for (let sample = -WARM; sample < SAMPLES; sample += 1) {
    const ms = await taken(work);
    if (sample >= 0) all.push(ms);
  }
  return all;
}

async function taken(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function asked(url: string, key: string): Promise<void> {
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } });
  if (answer.status !== 200) throw new Error(`${url} was answered with ${answer.status}`);
  await answer.arrayBuffer();
}

type Em = ReturnType<Deps['orm']['em']['fork']>;

/** What else an overview reads: waits of many addresses, and endpoints with failed webhooks. */
async function fill(em: Em, merchantId: string): Promise<void> {
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
