// What 150 dear lists of one key, once and kept in flight, cost another
// merchant's GET /customers/exists, with the connections that the product has.
import { Agent } from 'node:http';
import { atMost, numberOf, percentile, type Row, ratioText, told } from '../bench.ts';
import { newShop, withDatabase } from '../deps.ts';
import { seed } from '../seed.ts';
import { type Answer, ask, beside, sample } from './apart.ts';

const LISTS = 150;
const SAMPLES = 300;
const ROUNDS = 2;
const BURSTS = 6;
const GOAL_RATIO = 2;

/** Each has to look at as many rows as a list may. */
const DEAR = [
  '/customers?search=com%20user',
  '/deposits?currency=TRX&limit=100',
  '/deposits?status=failed&limit=100',
  '/customers?page=400&limit=100',
];

/** Quiet and busy are measured in turns. */
export function run(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const size = {
      customers: numberOf('BENCH_CUSTOMERS', 200_000),
      deposits: numberOf('BENCH_DEPOSITS', 500_000),
    };
    const { key } = await seed(databaseUrl, size);
    const other = await newShop(deps, 'Other');
    return await beside({ databaseUrl, with: 'lists' }, ({ api }) =>
      measure(api, { busy: key, other: other.key }),
    );
  });
}

async function measure(api: string, keys: { readonly busy: string; readonly other: string }): Promise<Row[]> {
  const quiet: Answer[] = [];
  const [always, once]: [Answer[], Answer[]] = [[], []];
  const [lists, listsOnce]: [Answer[], Answer[]] = [[], []];
  const exists = (least: number) =>
    sample((index) => `${api}/customers/exists?external_id=user_${index}`, { key: keys.other, least });
  await exists(SAMPLES);
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(...(await exists(SAMPLES)));
    let over = false;
    const rush = rushes(api, keys.busy, lists, () => over);
    always.push(...(await exists(SAMPLES)));
    over = true;
    await rush;
  }
  for (let burst = 0; burst < BURSTS; burst += 1) {
    let left = true;
    const rush = rushes(api, keys.busy, listsOnce, () => true).finally(() => {
      left = false;
    });
    while (left) once.push(...(await exists(1)));
    await rush;
  }
  const asked = [...always, ...once];
  return [
    besideRow(`exists of another merchant beside ${LISTS} lists at a time, p95 of quiet`, always, quiet),
    besideRow(`exists of another merchant beside ${LISTS} lists once, p95 of quiet`, once, quiet),
    noneRefused('exists that were not answered with 200', asked),
    told(
      'lists that had no turn within their 2 s, at a time and once',
      `${refused(lists)} of ${lists.length}, ${refused(listsOnce)} of ${listsOnce.length}`,
    ),
  ];
}

const refused = (answers: readonly Answer[]): number => answers.filter(({ status }) => status !== 200).length;

/** How much slower 19 of 20 were beside something than without it. */
export function besideRow(figure: string, busy: readonly Answer[], quiet: readonly Answer[]): Row {
  const [late, calm] = [busy, quiet].map((answers) =>
    percentile(
      answers.map(({ ms }) => ms),
      0.95,
    ),
  ) as [number, number];
  return atMost(figure, ratioText(late, calm, ' ms'), [late / calm, GOAL_RATIO]);
}

/** That each was answered with 200. */
export function noneRefused(figure: string, answers: readonly Answer[]): Row {
  return atMost(figure, `${refused(answers)} of ${answers.length}`, [refused(answers), 0]);
}

/** Asks for so many lists at once, and again for each that is answered until it is over. */
async function rushes(api: string, key: string, answers: Answer[], isOver: () => boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: LISTS });
  const headers = { Authorization: `Bearer ${key}` };
  const client = async (number: number): Promise<void> => {
    let turn = number;
    do {
      answers.push(await ask(api + DEAR[turn % DEAR.length], { agent, headers }));
      turn += 1;
    } while (!isOver());
  };
  await Promise.all(Array.from({ length: LISTS }, (_, number) => client(number)));
  agent.destroy();
}
