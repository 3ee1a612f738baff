// What grows with the years must not slow the work of every day: the
// first completion of a month, a page of "repair", "gateway migrate".
import { Migration } from '@mikro-orm/migrations';
import { ownPostgres } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { migrate } from '../../src/app/migrate.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { type Month, monthAfter, monthOf } from '../../src/domain/months.ts';
import { advanceDeposit } from '../../src/services/deposits/advance.ts';
import { foldMonths } from '../../src/services/deposits/monthly-limit.ts';
import type { ActorPort, Deps } from '../../src/services/deps.ts';
import { updateMerchant } from '../../src/services/merchants/merchants.ts';
import { makeMonthsAhead } from '../../src/services/months/make.ts';
import { repairDeposits } from '../../src/services/repair/repair.ts';
import { atLeast, atMost, msOf, numberOf, percentile, type Row, told } from '../bench.ts';
import { openChain, paying, writeBlock } from '../chain/written-block.ts';
import { depsOf, newCustomer, newEndpoint } from '../deps.ts';
import { seed } from '../seed.ts';

const DEPOSITS = numberOf('BENCH_MONTHS_DEPOSITS', 5_000_000);
const CUSTOMERS = 20_000;
/** Each gives one first completion and some others. */
const [MONTHS, OTHERS] = [30, 4];
const LIMIT_CENTS = 10n ** 20n;
const GOAL_FIRST = 1.2;
const GOAL_PAGE_MS = 50;
/** As a later version brings it: the index by which "repair" pages is built while the service runs. */
const INDEX = 'deposits_standing_index';
class Indexing extends Migration {
  override isTransactional(): boolean {
    return false;
  }
  override up(): void {
    this.addSql(`create index concurrently if not exists ${INDEX} on deposits (state_since, id)
      where status in ('detected', 'confirming') and not simulated`);
  }
}

/** One merchant's deposits of years, every fiftieth of them still waiting for the chain. */
export async function run(): Promise<Row[]> {
  const postgres = await ownPostgres();
  const { url } = postgres.now;
  const orm = await openOrm({ url, poolSize: 2, applicationName: 'bench' });
  try {
    await migrate(orm);
    const size = { customers: CUSTOMERS, deposits: DEPOSITS };
    const { merchantId } = await seed(url, size);
    const migrated = await migrating(orm);
    // What the first use costs this program is no cost of a page.
    const warm = await pages(orm);
    await postgres.stop();
    await postgres.start();
    // The first question after the server came back opens a connection, and may meet the end of the old one.
    const question = (): Promise<unknown> => orm.em.fork().execute('select 1');
    await question().catch(question);
    const [cold = Number.NaN] = await pages(orm);
    const page = (figure: string, ms: number) =>
      atMost(figure, `${ms.toFixed(1)} ms`, [ms, GOAL_PAGE_MS], ' ms');
    return [
      ...migrated,
      page('a page of "repair" (500 deposits), the first one after a start of PostgreSQL', cold),
      page(`the same warm, median of ${warm.length} pages`, percentile(warm, 0.5)),
      page('the same warm, p95', percentile(warm, 0.95)),
      ...(await completions(orm, merchantId)),
    ];
  } finally {
    await orm.close(true);
    await postgres.stop();
  }
}

/** As if the version before had left the database: one index is missing. */
async function migrating(orm: Orm): Promise<Row[]> {
  await orm.em.fork().execute(`drop index ${INDEX}`);
  MIGRATIONS.push({ name: 'Migration20991231000001_indexing', class: Indexing });
  const lines: string[] = [];
  let applied = 0;
  const ms = await msOf(async () => {
    applied = (await migrate(orm, (line) => lines.push(line))).length;
  });
  const progress = lines.filter((line) => line.startsWith(`Building ${INDEX}: `)).length;
  return [
    told(`"gateway migrate" with a new index over ${DEPOSITS} deposits`, `${(ms / 1_000).toFixed(1)} s`),
    atMost('its migrations that were applied', String(applied), [applied, 1]),
    // One in two seconds.
    atLeast('its lines of progress', String(progress), [progress, Math.floor(ms / 2_000)]),
  ];
}

/**
 * How long "repair" takes for each page of waiting deposits: the
 * ids by their index, then their rows. Temporal is left out.
 */
async function pages(orm: Orm): Promise<number[]> {
  const times: number[] = [];
  let began = performance.now();
  const everyoneRuns: ActorPort = {
    running: async (ids) => {
      times.push(performance.now() - began);
      began = performance.now();
      return new Set(ids);
    },
    start: async () => undefined,
    wake: async () => undefined,
    isUnresponsive: async () => false,
  };
  await repairDeposits({ ...depsOf(orm), actors: everyoneRuns });
  return times;
}

/** A merchant with a limit completes its first deposits in each of many months that have just begun. */
async function completions(orm: Orm, merchantId: string): Promise<Row[]> {
  let now = new Date();
  const plain = depsOf(orm);
  const settings: Deps['settings'] = { ...plain.settings, requiredConfirmations: { bsc: 1, tron: 1 } };
  const deps: Deps = { ...plain, settings, now: () => now };
  const shop = { merchantId, mode: 'live' as const };
  await updateMerchant(deps, { merchantId, monthlyLimitCents: LIMIT_CENTS });
  await newEndpoint(deps, shop, 'https://1.1.1.1/hook');
  const { address } = await newCustomer(deps, shop, 'payer');
  await openChain(deps, DEPOSITS);
  const present = monthOf(now);
  const months = Array.from({ length: MONTHS + 1 }, (_, index) => monthAfter(present, index + 1));
  const enter = (month: Month): void => {
    now = new Date(`${month}-01T00:00:01Z`);
  };
  for (const month of months) {
    enter(month);
    await makeMonthsAhead(deps);
  }
  const [first, others]: [number[], number[]] = [[], []];
  for (const [index, month] of months.entries()) {
    enter(month);
    const [one = Number.NaN, ...more] = await completeInTurn(deps, address);
    await foldMonths(deps);
    if (index === 0) continue; // what the first use costs this program is no cost of a month
    first.push(one);
    others.push(...more);
  }
  const [of, among] = [percentile(first, 0.5), percentile(others, 0.5)];
  return [
    told(`first completion of a month, median of ${first.length}`, `${of.toFixed(1)} ms`),
    told(`any other, median of ${others.length}`, `${among.toFixed(1)} ms`),
    atMost('first / any other', (of / among).toFixed(2), [of / among, GOAL_FIRST]),
  ];
}

/**
 * Milliseconds of each step from `detected` to `completed`, in the
 * order in which they were made. Throws where one does not get there.
 */
async function completeInTurn(deps: Deps, address: string): Promise<number[]> {
  await writeBlock(deps, paying(Array.from({ length: OTHERS + 1 }, () => address)));
  await writeBlock(deps, {}); // confirms them
  const rows = await deps.orm.em.fork().execute<{ id: string }[]>(
    `select id from deposits where network = 'bsc'
       and block_number = (select scanned_number - 1 from chain_cursors where network = 'bsc')
       and address_key = ? order by id`,
    [address.slice(2)],
  );
  const times: number[] = [];
  for (const { id } of rows) {
    const began = performance.now();
    const step = await advanceDeposit(deps, { depositId: id, alarmed: false });
    times.push(performance.now() - began);
    if (step.kind !== 'at' || step.state !== 'completed')
      throw new Error(`a deposit was not completed: ${JSON.stringify(step)}`);
  }
  return times;
}
