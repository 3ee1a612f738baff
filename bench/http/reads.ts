// What is left of a bare Koa and pg handler's speed in the reads of the API, and whether the last page
// of a list is as quick as the first.
import { Agent } from 'node:http';
import { atLeast, atMost, numberOf, percentile, type Row, ratioText } from '../bench.ts';
import { withDatabase } from '../deps.ts';
import { type Seeded, type SeedSize, seed } from '../seed.ts';
import { beside, load, read } from './apart.ts';

const WARM_MS = 1_500;
const ROUND_MS = 2_000;
const ROUNDS = 5;
const PAGE_READS = 60;
const PAGE_ROWS = 25;
const GOAL_RATIO = 0.8;
const GOAL_LAST_PAGE = 1.5;

/** GET /customers/exists alone, among 100,000 customers. */
export function runExists(): Promise<Row[]> {
  const size = { customers: 100_000, deposits: 0 };
  return withDatabase(async (_deps, url) => {
    const seeded = await seed(url, size);
    return await compare(url, seeded, size, ['/customers/exists']);
  });
}

/** The reads over as many rows as years of business leave behind, and the pages of lists. */
export function run(): Promise<Row[]> {
  const size = {
    customers: numberOf('BENCH_CUSTOMERS', 100_000),
    deposits: numberOf('BENCH_DEPOSITS', 1_000_000),
  };
  return withDatabase(async (deps, url) => {
    const seeded = await seed(url, size);
    const rows = await compare(url, seeded, size, ['/customers/exists', '/customers', '/balance']);
    for (const list of ['customers', 'deposits']) {
      const oldest = `select id from ${list} where merchant_id = ? order by created_at, id offset ? limit 1`;
      const [cursor] = await deps.orm.em
        .fork()
        .execute<{ id: string }[]>(oldest, [seeded.merchantId, PAGE_ROWS]);
      rows.push(await lastPage(url, seeded.key, list, cursor?.id));
    }
    return rows;
  });
}

/** Both servers answer the same questions from the same rows, in turns. */
async function compare(
  databaseUrl: string,
  { merchantId, key }: Seeded,
  { customers, deposits }: SeedSize,
  names: readonly string[],
): Promise<Row[]> {
  const random = (): number => 1 + Math.floor(Math.random() * customers * 1.1);
  const rows: Row[] = [];
  await beside({ databaseUrl, bareFor: merchantId }, (bare) =>
    beside({ databaseUrl }, async (gateway) => {
      for (const name of names) {
        const path = () => (name.endsWith('exists') ? `${name}?external_id=user_${random()}` : name);
        const rate = ({ api }: { api: string }, ms: number) => load(() => api + path(), key, ms);
        for (const server of [bare, gateway]) await rate(server, WARM_MS);
        const rounds: (readonly [number, number])[] = [];
        for (let round = 0; round < ROUNDS; round += 1)
          rounds.push([await rate(bare, ROUND_MS), await rate(gateway, ROUND_MS)]);
        const ratios = rounds.map(([plain, own]) => own / plain);
        const ratio = percentile(ratios, 0.5);
        const [plain = 0, own = 0] = rounds[ratios.indexOf(ratio)] ?? [];
        const among = `${customers} customers${deposits > 0 ? `, ${deposits} deposits` : ''}`;
        const figure = `GET ${name} of bare Koa + pg, ${among}`;
        rows.push(atLeast(figure, ratioText(own, plain, '/s', 0), [ratio, GOAL_RATIO]));
      }
    }),
  );
  return rows;
}

/** The middle time of the first page and of the oldest one, which is reached by its cursor, in turns. */
function lastPage(databaseUrl: string, key: string, list: string, cursor: string | undefined): Promise<Row> {
  return beside({ databaseUrl }, async ({ api }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const [first, last]: [number[], number[]] = [[], []];
    for (let index = 0; index < PAGE_READS; index += 1) {
      first.push(await read(`${api}/${list}`, key, agent));
      last.push(await read(`${api}/${list}?starting_after=${cursor}`, key, agent));
    }
    agent.destroy();
    const [one, other] = [percentile(first, 0.5), percentile(last, 0.5)];
    const figure = `GET /${list}, last page of the first one's time`;
    return atMost(figure, ratioText(other, one, ' ms'), [other / one, GOAL_LAST_PAGE]);
  });
}
