import { availableParallelism } from 'node:os';
import { stopParts } from '../dev/support/parts.ts';
import type { Row } from './bench.ts';

/**
 * `npm run bench -- NAME…`: measures and prints; nothing is asserted. Ratios are taken within one
 * run, because absolute figures depend on the machine. Without a name it lists what there is. The
 * variables in brackets make a quick run, and goals hold without them.
 */
const BENCHES: Readonly<Record<string, readonly [about: string, run: () => Promise<Row[]>]>> = {
  deposits: [
    'deposits per second against the same workflows with activities that do nothing, five pairs (BENCH_PAIRS, about 8 minutes)',
    async () => (await import('./deposits/deposits.ts')).run(),
  ],
  latency: [
    'from a mined block to deposit.detected at the receiver',
    async () => (await import('./deposits/latency.ts')).run(),
  ],
  'latency-tron': [
    'the same on Tron, whose blocks come every 3 s (BENCH_LATENCY_SAMPLES, about 3 minutes)',
    async () => (await import('./deposits/latency.ts')).runTron(),
  ],
  idle: [
    'processor time of one worker that follows both chains while nobody pays (BENCH_MINUTES, BENCH_STRANGERS, about 7 minutes)',
    async () => (await import('./chain/idle.ts')).run(),
  ],
  waiting: [
    '5,000 deposits that wait on a chain that stands still (about 10 minutes)',
    async () => (await import('./deposits/waiting.ts')).run(),
  ],
  dust: [
    "payments of one merchant while dust reaches another one's payment link (BENCH_DUST, BENCH_DUST_SAMPLES, about 4 minutes)",
    async () => (await import('./chain/dust.ts')).run(),
  ],
  months: [
    'first completion of a month, a page of repair and a new index among 5,000,000 deposits (BENCH_MONTHS_DEPOSITS, some minutes)',
    async () => (await import('./deposits/months.ts')).run(),
  ],
  scan: [
    'reading blocks against JSON.parse of the same bytes',
    async () => (await import('./chain/scan.ts')).run(),
  ],
  'scan-tron': [
    'reading blocks of Tron against JSON.parse of the same bytes',
    async () => (await import('./chain/scan.ts')).runTron(),
  ],
  'requests-tron': [
    'requests a day that following Tron takes, and those of a catch-up (BENCH_MINUTES, about 12 minutes)',
    async () => (await import('./chain/requests-tron.ts')).run(),
  ],
  'block-writes': [
    'one block with many deposits, many payments of one customer, many strange tokens',
    async () => (await import('./chain/block-writes.ts')).run(),
  ],
  'catch-up': [
    'an hour of blocks within a budget, 50,000 without one, and the memory of it (BENCH_CATCH_UP, about 12 minutes)',
    async () => (await import('./chain/catch-up.ts')).run(),
  ],
  events: [
    'a backlog of 10,000 events to one endpoint against bare activities (BENCH_EVENTS)',
    async () => (await import('./webhooks/events.ts')).run(),
  ],
  isolation: [
    'webhooks of a healthy merchant beside hung, dripping, resetting and TLS-failing ones',
    async () => (await import('./webhooks/isolation.ts')).run(),
  ],
  exists: [
    'GET /customers/exists against a bare handler',
    async () => (await import('./http/reads.ts')).runExists(),
  ],
  lists: [
    "another merchant's exists beside 150 dear lists of one key (BENCH_CUSTOMERS, BENCH_DEPOSITS, about 2 minutes)",
    async () => (await import('./http/lists.ts')).run(),
  ],
  'test-traffic': [
    'live webhooks of the same and of another merchant beside 400 test webhooks at once (BENCH_BACKLOG, BENCH_ROUNDS, some minutes)',
    async () => (await import('./webhooks/test-traffic.ts')).run(),
  ],
  checkout: [
    'what the checkout weighs, how soon it can be used on a slow machine, and how soon it shows mined money (BENCH_SAMPLES, about 3 minutes)',
    async () => (await import('./http/checkout.ts')).run(),
  ],
  streams: [
    'what 1,000 open streams of payment links cost, and GET /payments/:token while 500 are opened at once (BENCH_ROUNDS, about 2 minutes)',
    async () => (await import('./http/payers.ts')).runStreams(),
  ],
  'payer-pages': [
    "1,000 payers' pages at once from 20 addresses, and another merchant's exists beside them (BENCH_ROUNDS, about 2 minutes)",
    async () => (await import('./http/payers.ts')).runPages(),
  ],
  search: [
    'GET /customers?search= for texts of every kind among 1,000,000 customers (BENCH_CUSTOMERS, about 4 minutes)',
    async () => (await import('./http/search.ts')).run(),
  ],
  newcomer: [
    'from git clone to the first verified webhook by the README alone, on both versions of Node (2 minutes)',
    async () => (await import('./newcomer.ts')).run(),
  ],
  overview: [
    'what a merchant sees first, and the first page of deposits against the API (BENCH_DEPOSITS, about 3 minutes)',
    async () => (await import('./http/overview.ts')).run(),
  ],
  reads: [
    'reads against bare handlers, and the last page of lists (BENCH_CUSTOMERS, BENCH_DEPOSITS; 100,000 and 1,000,000)',
    async () => (await import('./http/reads.ts')).run(),
  ],
  cost: [
    'what one deposit costs by part, in processor time and bytes; the base of docs/sizing.md (BENCH_COST_DEPOSITS, about 6 minutes)',
    async () => (await import('./deposits/cost.ts')).run(),
  ],
  'payout-gas': [
    'gas for one settled deposit with 1, 5 and 20 of them on an address (about 3 minutes)',
    async () => (await import('./payouts/gas.ts')).run(),
  ],
  'payout-rate': [
    'payouts a second against the same workflows with activities that do nothing (BENCH_PAIRS, BENCH_SETTLE_ADDRESSES, about 12 minutes)',
    async () => (await import('./payouts/rate.ts')).run(),
  ],
  'payout-latency': [
    'from the block that makes a payout final to deposit.settled at the receiver (BENCH_SETTLE_SAMPLES, about 6 minutes)',
    async () => (await import('./payouts/latency.ts')).run(),
  ],
  'payout-waiting': [
    '10,000 completed deposits on addresses that hold less than the least payout (BENCH_UNSETTLED, about 20 minutes)',
    async () => (await import('./payouts/waiting.ts')).run(),
  ],
  journal: [
    "opening the signer's journal against hashing it, its memory, and the limits of one signature (BENCH_LINES, 2,000,000 take 2 GB of disk; some seconds)",
    async () => (await import('./payouts/journal.ts')).run(),
  ],
  memory: [
    'memory of the API over 200,000 requests (BENCH_REQUESTS)',
    async () => (await import('./http/memory.ts')).run(),
  ],
};

const NAME_WIDTH = Math.max(...Object.keys(BENCHES).map((name) => name.length));
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in BENCHES));
if (names.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`There is no bench ${unknown.join(', ')}.\n`);
  for (const [name, [about]] of Object.entries(BENCHES))
    process.stdout.write(`${name.padEnd(NAME_WIDTH)} ${about}\n`);
  process.exitCode = unknown.length > 0 ? 2 : 0;
} else {
  for (const name of names) {
    const began = Date.now();
    try {
      print(name, (await BENCHES[name]?.[1]()) ?? [], Date.now() - began);
    } finally {
      await stopParts();
    }
  }
  process.exit();
}

function print(name: string, rows: readonly Row[], tookMs: number): void {
  process.stdout.write(`\n${name} on ${availableParallelism()} cores, ${(tookMs / 1_000).toFixed(0)} s\n`);
  const width = (member: 'figure' | 'value') => Math.max(...rows.map((row) => row[member].length));
  const [figures, values] = [width('figure'), width('value')];
  for (const { figure, value, goal, met } of rows) {
    const judged = goal === '' ? '' : `goal ${goal}: ${met ? 'met' : 'MISSED'}`;
    process.stdout.write(`  ${figure.padEnd(figures)}  ${value.padStart(values)}  ${judged}\n`);
  }
}
