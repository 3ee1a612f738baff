// Whether the API keeps something of the requests that it has answered: its heap and its
// resident memory after 20,000 of them and at the end (BENCH_REQUESTS, 200,000), each after
// a collection. Good, refused and malformed requests, many keys, many client addresses.
import { Agent, request as startRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMerchant } from '../../src/services/merchants/merchants.ts';
import { atMost, inParallel, numberOf, type Row, told } from '../bench.ts';
import { withDatabase } from '../deps.ts';
import { beside, type Costs } from './apart.ts';

const REQUESTS = numberOf('BENCH_REQUESTS', 200_000);
const SETTLED_AFTER = Math.min(20_000, Math.floor(REQUESTS / 5));
const CONNECTIONS = 32;
const MERCHANTS = 20;
/** What may differ between two collections of a process that keeps nothing. */
const [HEAP_SLACK_MIB, RSS_SLACK_MIB] = [8, 40];
const TELL_EVERY = 20_000;
/** Everything that was counted for a moment is written and forgotten. */
const SETTLE_MS = 1_500;

/** What each request is depends on its number alone. */
export function run(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const keys: string[] = [];
    for (let index = 0; index < MERCHANTS; index += 1) {
      const made = await createMerchant(deps, { name: `Bench ${index}`, subscriptionActive: true });
      keys.push(made.keys.live, made.keys.test);
    }
    return await beside({ databaseUrl, guards: 'proxied' }, async ({ origin, costs }) => {
      const { port } = new URL(origin);
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      const send = async (from: number, to: number): Promise<Costs> => {
        await inParallel(to - from, CONNECTIONS, async (index) => {
          const number = from + index;
          if (number > 0 && number % TELL_EVERY === 0)
            process.stderr.write(`${number} of ${REQUESTS} requests\n`);
          await ask(agent, port, number, keys[number % keys.length] ?? '');
        });
        await sleep(SETTLE_MS);
        await costs();
        return await costs();
      };
      const began = performance.now();
      const early = await send(0, SETTLED_AFTER);
      const late = await send(SETTLED_AFTER, REQUESTS);
      const rate = REQUESTS / ((performance.now() - began) / 1_000);
      agent.destroy();
      return [
        grown('heap', early.heapBytes, late.heapBytes, HEAP_SLACK_MIB),
        grown('resident', early.heldBytes, late.heldBytes, RSS_SLACK_MIB),
        told('requests of every kind', `${Math.round(rate)}/s`),
      ];
    });
  });
}

function grown(what: string, from: number, to: number, slackMib: number): Row {
  const [early, late] = [from / 2 ** 20, to / 2 ** 20];
  const figure = `${what} after ${SETTLED_AFTER} and ${REQUESTS} requests`;
  const value = `${early.toFixed(1)} → ${late.toFixed(1)} MiB`;
  return atMost(figure, value, [late - early, slackMib], ' MiB more');
}

function ask(agent: Agent, port: string, number: number, key: string): Promise<void> {
  const json = { 'Content-Type': 'application/json' };
  const long = JSON.stringify({ external_id: '', note: 'x'.repeat(2_000) });
  const kinds = [
    { path: `/customers/exists?external_id=user_${number}`, headers: {} },
    { path: '/customers?limit=5', headers: {} },
    { path: `/customers/${number}`, headers: {} },
    { path: `/none/${number}`, headers: {} },
    { path: '/customers/exists', headers: { 'x-api-key': `sk_live_${number}` } },
    { path: '/customers', method: 'POST', headers: json, body: '{"external_id":' },
    { path: '/customers', method: 'POST', headers: json, body: long },
    { path: `/payments/pl_${`${number}`.padStart(32, '0')}`, headers: {} },
  ];
  const { path, headers, method = 'GET', body } = kinds[number % kinds.length] ?? { path: '/', headers: {} };
  // 127.0.0.1 is a proxy here: every request comes from an address of its own.
  const from = `${10 + (number & 1)}.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const options = {
    agent,
    port,
    host: '127.0.0.1',
    path: `/api/v1${path}`,
    method,
    headers: { 'x-api-key': key, 'X-Forwarded-For': from, ...headers },
  };
  return new Promise((resolve, reject) => {
    const request = startRequest(options, (response) => {
      if ((response.statusCode ?? 500) >= 500)
        reject(new Error(`${method} ${path} answered ${response.statusCode}`));
      response.resume();
      response.once('end', resolve);
    });
    request.once('error', reject);
    request.end(body);
  });
}
