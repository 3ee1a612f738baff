// GET /customers?search= among 1,000,000 customers, for texts of every kind, the worst ones too.
import { Agent } from 'node:http';
import type { Deps } from '../../src/services/deps.ts';
import { atMost, numberOf, percentile, type Row } from '../bench.ts';
import { withDatabase } from '../deps.ts';
import { seed } from '../seed.ts';
import { beside, read } from './apart.ts';

const CUSTOMERS = numberOf('BENCH_CUSTOMERS', 1_000_000);
const READS = 20;
const GOAL_MS = 50;
const LONGEST = 320;

/**
 * Customer n is the nth. The older half has names that no
 * newer one has, the first one a name that nobody else has.
 */
const TEXTS: readonly (readonly [about: string, text: string, more?: string])[] = [
  ['the beginning of all', 'user_'],
  ['a beginning of one in ninety', 'user_12'],
  ['a beginning of one in nine thousand', 'user_1234'],
  ['a word of one old row', 'zbigniew'],
  ['a word of the older half', 'elder'],
  ['a word of the older half, page 100', 'elder', '&page=100'],
  ['two letters of nobody', 'zq'],
  ['two letters of all', 'us'],
  ['a whole email', `user_${Math.ceil(CUSTOMERS / 3)}@example.com`],
  ['an email of nobody', 'someone@example.net'],
  ['letters of nobody', 'xqzjvw'],
  ['nobody, in groups of letters that all have', 'com user'],
  ['nobody, in groups of letters that half have', 'elder elder'],
  ['a percent sign', '%'],
  ['an underscore', '_'],
  ['one letter', 'e'],
  ['the longest, of groups that all have', `${'user_example.com '.repeat(LONGEST).slice(0, LONGEST - 1)}m`],
  ['the longest, of percent signs', '%_\\'.repeat(LONGEST).slice(0, LONGEST)],
];

/** Each text is asked for in turns, so that no run of one of them has all to itself. */
export function run(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const { key } = await seed(databaseUrl, { customers: CUSTOMERS, deposits: 0 });
    await nameOlderHalf(deps);
    return await beside({ databaseUrl, with: 'lists' }, ({ api }) => measure(api, key));
  });
}

async function measure(api: string, key: string): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times = TEXTS.map(() => [] as number[]);
  for (let round = -1; round < READS; round += 1)
    for (const [index, [, text, more = '']] of TEXTS.entries()) {
      const ms = await read(`${api}/customers?search=${encodeURIComponent(text)}${more}`, key, agent);
      if (round >= 0) times[index]?.push(ms);
    }
  agent.destroy();
  return TEXTS.map(([about], index) => {
    const [middle, late] = [0.5, 0.95].map((share) => percentile(times[index] ?? [], share)) as [
      number,
      number,
    ];
    const figure = `?search= among ${CUSTOMERS} customers: ${about}`;
    return atMost(
      figure,
      `p50 ${middle.toFixed(0)} ms, p95 ${late.toFixed(0)} ms`,
      [late, GOAL_MS],
      ' ms at p95',
    );
  });
}

async function nameOlderHalf({ orm }: Deps): Promise<void> {
  const run = (sql: string, values: unknown[] = []): Promise<{ indexdef: string }[]> =>
    orm.em.fork().execute(sql, values);
  const [index] = await run(`select indexdef from pg_indexes where indexname = 'customers_search_index'`);
  await run('drop index customers_search_index');
  await run(
    `update customers set name = case wallet_index when 1 then 'Zbigniew Quux' else 'Elder ' || wallet_index end
     where wallet_index <= ?`,
    [Math.floor(CUSTOMERS / 2)],
  );
  await run('vacuum full customers');
  await run(index?.indexdef ?? '');
  await run('vacuum analyze customers');
}
