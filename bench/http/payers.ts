// What payers' pages and their open streams cost, and what others feel of many at once.
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../src/services/deps.ts';
import { atMost, numberOf, percentile, type Row, ratioText, told } from '../bench.ts';
import { newCustomer, newLink, newShop, withDatabase } from '../deps.ts';
import { type Answer, ask, beside, type Costs, sample } from './apart.ts';
import { besideRow, noneRefused } from './lists.ts';

const [PAGES, STREAMS, BURST] = [1_000, 1_000, 500];
const ADDRESSES = 20;
/** Of the streams that one address may have open at a time. */
const STREAMS_OF_ADDRESS = 50;
const QUIET_SAMPLES = 300;
/** The limits of an address and of a key are whole again. */
const REFILL_MS = 3_000;
/** What every process does once is not counted. */
const WARM = 20;
const WATCHED_MS = 20_000;

type Server = { readonly origin: string; readonly api: string; costs(): Promise<Costs> };

/** The tokens of so many open payment links, each of a customer of its own. */
async function linksOf(deps: Deps, count: number): Promise<string[]> {
  const shop = await newShop(deps);
  const tokens: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { id } = await newCustomer(deps, shop, `user_${index}`);
    tokens.push((await newLink(deps, shop, id, 2_500n + BigInt(index))).token);
  }
  return tokens;
}

/** 1,000 payers' pages at once from 20 addresses, and another merchant's exists beside them. */
export function runPages(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const tokens = await linksOf(deps, PAGES);
    const { key } = await newShop(deps, 'Other');
    const [one = ''] = tokens;
    return await beside({ databaseUrl, guards: 'usual', with: 'pages' }, async (server) => [
      ...(await measurePages(server, key, '/pay of a link each', tokens)),
      ...(await measurePages(
        server,
        key,
        '/pay of one link',
        tokens.map(() => one),
      )),
    ]);
  });
}

async function measurePages(
  server: Server,
  key: string,
  what: string,
  tokens: readonly string[],
): Promise<Row[]> {
  const [quiet, busy, pages]: [Answer[], Answer[], Answer[]] = [[], [], []];
  const [lasts, costs]: [number[], number[]] = [[], []];
  const exists = (least: number, goesOn = () => false) =>
    sample((at) => `${server.api}/customers/exists?external_id=user_${at}`, { key, least, goesOn });
  await loadAll(server, tokens.slice(0, ADDRESSES));
  await exists(QUIET_SAMPLES);
  for (let round = 0; round < numberOf('BENCH_ROUNDS', 3); round += 1) {
    await sleep(REFILL_MS);
    quiet.push(...(await exists(QUIET_SAMPLES)));
    const before = await server.costs();
    const [began, rush] = [performance.now(), inFlight(loadAll(server, tokens))];
    busy.push(...(await exists(1, rush.isLeft)));
    pages.push(...(await rush.done));
    lasts.push(rush.endedAt() - began);
    costs.push(((await server.costs()).cpuMs - before.toldMs) / tokens.length);
  }
  return [
    noneRefused(`${PAGES} ${what} at once, not answered with 200`, pages),
    told('until the last is answered, p50', `${(percentile(lasts, 0.5) / 1_000).toFixed(1)} s`),
    told('processor time of the server for each, exists beside', `${percentile(costs, 0.5).toFixed(1)} ms`),
    besideRow('exists of another merchant beside them, p95 of quiet', busy, quiet),
    noneRefused('of these, not answered with 200', busy),
  ];
}

/** Whether it is still under way, and when it ended. */
function inFlight<T>(work: Promise<T>) {
  let endedAt: number | undefined;
  const done = work.finally(() => {
    endedAt = performance.now();
  });
  return { done, isLeft: () => endedAt === undefined, endedAt: () => endedAt ?? Number.NaN };
}

/** Each page on a connection of its own, as each reader comes. */
async function loadAll({ origin }: Server, tokens: readonly string[]): Promise<Answer[]> {
  return await Promise.all(
    tokens.map((token, index) => {
      const localAddress = `127.0.2.${1 + (index % ADDRESSES)}`;
      return ask(`${origin}/pay/${token}`, { agent: false, localAddress });
    }),
  );
}

/** What 1,000 open streams cost, and GET /payments/:token while 500 of them are opened at once. */
export function runStreams(): Promise<Row[]> {
  return withDatabase(async (deps, databaseUrl) => {
    const tokens = await linksOf(deps, STREAMS);
    return await beside({ databaseUrl, with: 'pages' }, async (server) => {
      // First, while the process never took more than this needs.
      const open = await measureOpen(server, tokens);
      return [...open, ...(await measureBursts(server, tokens))];
    });
  });
}

async function measureOpen({ origin, costs }: Server, tokens: readonly string[]): Promise<Row[]> {
  for (const stream of await openAll(origin, tokens.slice(0, WARM))) stream.destroy();
  await sleep(2_000);
  const before = await costs();
  const streams = await openAll(origin, tokens.slice(0, STREAMS));
  await sleep(3_000);
  const opened = await costs();
  const began = performance.now();
  await sleep(WATCHED_MS);
  const later = await costs();
  const seconds = (performance.now() - began) / 1_000;
  for (const stream of streams) stream.destroy();
  const share = (later.cpuMs - opened.toldMs) / 10 / seconds;
  const held = (later.heldBytes - before.heldBytes) / 2 ** 20;
  const peak = (later.peakBytes - before.heldBytes) / 2 ** 20;
  const asked = (later.statements - opened.statements) / seconds;
  return [
    atMost(`${STREAMS} open streams, share of a core`, `${share.toFixed(1)} %`, [share, 5], ' %'),
    atMost(`${STREAMS} open streams, memory`, `${held.toFixed(0)} MB`, [held, 50], ' MB'),
    told(`the most while ${STREAMS} are opened at once`, `${peak.toFixed(0)} MB`),
    atMost(`${STREAMS} open streams, statements a second`, asked.toFixed(2), [asked, 1.1]),
  ];
}

async function measureBursts({ origin, api }: Server, tokens: readonly string[]): Promise<Row[]> {
  const url = `${api}/payments/${tokens[0]}`;
  const [quiet, busy, firsts]: [Answer[], Answer[], number[]] = [[], [], []];
  await sample(() => url, { least: QUIET_SAMPLES });
  for (let round = 0; round < numberOf('BENCH_ROUNDS', 5); round += 1) {
    quiet.push(...(await sample(() => url, { least: QUIET_SAMPLES })));
    const [began, opening] = [performance.now(), inFlight(openAll(origin, tokens.slice(0, BURST)))];
    busy.push(...(await sample(() => url, { least: 1, goesOn: opening.isLeft })));
    for (const stream of await opening.done) stream.destroy();
    firsts.push(opening.endedAt() - began);
    await sleep(1_000);
  }
  const timesOf = (answers: readonly Answer[]) => answers.map(({ ms }) => ms);
  const rows = [0.5, 0.95].map((part) => {
    const [late, calm] = [percentile(timesOf(busy), part), percentile(timesOf(quiet), part)];
    const figure = `GET /payments/:token beside ${BURST} opens at once, p${part * 100} of quiet`;
    return atMost(figure, ratioText(late, calm, ' ms'), [late / calm, 1.5]);
  });
  const slowest = `${(percentile(firsts, 0.5) / 1_000).toFixed(1)} s`;
  const failed = [...quiet, ...busy].find(({ status }) => status !== 200);
  if (failed) throw new Error(`${url} answered ${failed.status}`);
  return [...rows, told(`until each of ${BURST} has its first view`, slowest)];
}

/** A stream for each token; resolves when each has had its first view. */
async function openAll(origin: string, tokens: readonly string[]): Promise<IncomingMessage[]> {
  const open = (token: string, index: number) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const localAddress = `127.0.2.${1 + Math.floor(index / STREAMS_OF_ADDRESS)}`;
      get(`${origin}/pay/${token}/live`, { agent: false, localAddress }, (response) => {
        if (response.statusCode !== 200)
          reject(new Error(`a stream was answered with ${response.statusCode}`));
        response.on('error', () => undefined);
        response.on('data', (chunk: Buffer) => {
          if (chunk.includes('event: view')) resolve(response);
        });
      }).once('error', reject);
    });
  return await Promise.all(tokens.map(open));
}
