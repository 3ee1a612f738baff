import { availableParallelism } from 'node:os';
import type { Row } from './row.ts';

/**
 * `npm run bench -- NAME…`: measures and prints; nothing is asserted. Ratios are taken within one
 * run, because absolute figures depend on the machine. Without a name it lists what there is.
 */
const BENCHES: Readonly<Record<string, { about: string; load: () => Promise<{ run(): Promise<Row[]> }> }>> = {
  deposits: {
    about:
      'deposits per second against the same workflows with activities that do nothing, five pairs (BENCH_PAIRS, about 8 minutes)',
    load: () => import('./deposits/deposits.ts'),
  },
  latency: {
    about: 'from a mined block to deposit.detected at the receiver',
    load: () => import('./deposits/latency.ts'),
  },
  'latency-tron': {
    about: 'the same on Tron, whose blocks come every 3 s (BENCH_LATENCY_SAMPLES, about 3 minutes)',
    load: () => import('./deposits/latency-tron.ts'),
  },
  idle: {
    about:
      'processor time of one worker that follows both chains while nobody pays (BENCH_MINUTES, BENCH_STRANGERS, about 7 minutes)',
    load: () => import('./chain/idle.ts'),
  },
  waiting: {
    about: '5,000 deposits that wait on a chain that stands still (about 10 minutes)',
    load: () => import('./deposits/waiting.ts'),
  },
  dust: {
    about:
      "payments of one merchant while dust reaches another one's payment link (BENCH_DUST, BENCH_DUST_SAMPLES, about 4 minutes)",
    load: () => import('./chain/dust.ts'),
  },
  months: {
    about:
      'first completion of a month, a page of repair and a new index among 5,000,000 deposits (BENCH_MONTHS_DEPOSITS, some minutes)',
    load: () => import('./deposits/months.ts'),
  },
  scan: {
    about: 'reading blocks against JSON.parse of the same bytes',
    load: () => import('./chain/scan.ts'),
  },
  'scan-tron': {
    about: 'reading blocks of Tron against JSON.parse of the same bytes',
    load: () => import('./chain/scan-tron.ts'),
  },
  'requests-tron': {
    about:
      'requests a day that following Tron takes, and those of a catch-up (BENCH_MINUTES, about 12 minutes)',
    load: () => import('./chain/requests-tron.ts'),
  },
  'block-writes': {
    about: 'one block with many deposits, many payments of one customer, many strange tokens',
    load: () => import('./chain/block-writes.ts'),
  },
  'catch-up': {
    about:
      'an hour of blocks within a budget, 50,000 without one, and the memory of it (BENCH_CATCH_UP, about 12 minutes)',
    load: () => import('./chain/catch-up.ts'),
  },
  events: {
    about: 'a backlog of 10,000 events to one endpoint against bare activities (BENCH_EVENTS)',
    load: () => import('./webhooks/events.ts'),
  },
  isolation: {
    about: 'webhooks of a healthy merchant beside hung, dripping, resetting and TLS-failing ones',
    load: () => import('./webhooks/isolation.ts'),
  },
  exists: { about: 'GET /customers/exists against a bare handler', load: () => import('./http/exists.ts') },
  lists: {
    about:
      "another merchant's exists beside 150 dear lists of one key (BENCH_CUSTOMERS, BENCH_DEPOSITS, about 2 minutes)",
    load: () => import('./http/lists.ts'),
  },
  'test-traffic': {
    about:
      'live webhooks of the same and of another merchant beside 400 test webhooks at once (BENCH_BACKLOG, BENCH_ROUNDS, some minutes)',
    load: () => import('./webhooks/test-traffic.ts'),
  },
  checkout: {
    about:
      'what the checkout weighs, how soon it can be used on a slow machine, and how soon it shows mined money (BENCH_SAMPLES, about 3 minutes)',
    load: () => import('./http/checkout.ts'),
  },
  streams: {
    about:
      'what 1,000 open streams of payment links cost, and GET /payments/:token while 500 are opened at once (BENCH_ROUNDS, about 2 minutes)',
    load: () => import('./http/streams.ts'),
  },
  'payer-pages': {
    about:
      "1,000 payers' pages at once from 20 addresses, and another merchant's exists beside them (BENCH_ROUNDS, about 2 minutes)",
    load: () => import('./http/payer-pages.ts'),
  },
  search: {
    about:
      'GET /customers?search= for texts of every kind among 1,000,000 customers (BENCH_CUSTOMERS, about 4 minutes)',
    load: () => import('./http/search.ts'),
  },
  newcomer: {
    about:
      'from git clone to the first verified webhook by the README alone, on both versions of Node (2 minutes)',
    load: () => import('./newcomer.ts'),
  },
  overview: {
    about:
      'what a merchant sees first, and the first page of deposits against the API (BENCH_DEPOSITS, about 3 minutes)',
    load: () => import('./http/overview.ts'),
  },
  reads: {
    about:
      'reads against bare handlers, and the last page of lists (BENCH_CUSTOMERS, BENCH_DEPOSITS; 100,000 and 1,000,000)',
    load: () => import('./http/reads.ts'),
  },
  cost: {
    about:
      'what one deposit costs by part, in processor time and bytes; the base of docs/sizing.md (BENCH_COST_DEPOSITS, about 6 minutes)',
    load: () => import('./deposits/cost.ts'),
  },
  'payout-gas': {
    about: 'gas for one settled deposit with 1, 5 and 20 of them on an address (about 3 minutes)',
    load: () => import('./payouts/gas.ts'),
  },
  'payout-rate': {
    about:
      'payouts a second against the same workflows with activities that do nothing (BENCH_PAIRS, BENCH_SETTLE_ADDRESSES, about 12 minutes)',
    load: () => import('./payouts/rate.ts'),
  },
  'payout-latency': {
    about:
      'from the block that makes a payout final to deposit.settled at the receiver (BENCH_SETTLE_SAMPLES, about 6 minutes)',
    load: () => import('./payouts/latency.ts'),
  },
  'payout-waiting': {
    about:
      '10,000 completed deposits on addresses that hold less than the least payout (BENCH_UNSETTLED, about 20 minutes)',
    load: () => import('./payouts/waiting.ts'),
  },
  journal: {
    about:
      "opening the signer's journal against hashing it, its memory, and the limits of one signature (BENCH_LINES, 2,000,000 take 2 GB of disk; some seconds)",
    load: () => import('./payouts/journal.ts'),
  },
  memory: {
    about: 'memory of the API over 200,000 requests (BENCH_REQUESTS)',
    load: () => import('./deposits/memory.ts'),
  },
};

const NAME_WIDTH = Math.max(...Object.keys(BENCHES).map((name) => name.length));
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHES));
if (names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no bench ${unknown.join(', ')}.\n`);
  for (const [name, { about }] of Object.entries(BENCHES))
    process.stdout.write(`${name.padEnd(NAME_WIDTH)} ${about}\n`);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  for (const name of names) {
    const began = Date.now();
    const rows = (await (await BENCHES[name]?.load())?.run()) ?? [];
    print(name, rows, Date.now() - began);
  }
  process.exit();
}

function print(name: string, rows: readonly Row[], tookMs: number): void {
  process.stdout.write(`\n${name} on ${availableParallelism()} cores, ${(tookMs / 1_000).toFixed(0)} s\n`);
  const widths = {
    figure: Math.max(...rows.map((row) => row.figure.length)),
    value: Math.max(...rows.map((row) => row.value.length)),
  };
  for (const row of rows) {
    process.stdout.write(
      `  ${row.figure.padEnd(widths.figure)}  ${row.value.padStart(widths.value)}  ${row.goal === '' ? '' : `goal ${row.goal}: ${row.met ? 'met' : 'MISSED'}`}\n`,
    );
  }
}
