import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

// How the test files are shared out among processes that
// run beside each other. Each lane has servers of its own.

const ROOT = join(import.meta.dirname, '../..');
/**
 * How long each file took in the last whole run that was measured: "npm test" writes its own
 * times to the cache, to be copied over this file.
 */
const SECONDS_FILE = join(import.meta.dirname, 'seconds.json');
const CACHE = join(ROOT, 'node_modules/.cache/test-seconds');
const PATTERNS = ['test/**/*.test.ts', 'bench/**/*.test.ts'];
/** The time of a file that was never measured. */
const USUAL_S = 8;
/**
 * A lane waits for servers, clocks and schedules about half of its time; with more lanes a second
 * would last too long for tests that have a limit.
 */
const LANES_BEYOND_CORES = 1;
const MOST_LANES = 6;

/**
 * Tests whose assertions are times, or whose real servers have some hundred milliseconds for an answer. They
 * run first, in lanes that do little but wait: beside other tests their seconds may last twice as long.
 */
const TIMED = [
  'test/actors/frozen.test.ts',
  'test/actors/outage.test.ts',
  'test/actors/webhooks/receivers.test.ts',
  'test/actors/webhooks/schedule.test.ts',
  'test/actors/two-chains.test.ts',
  'test/api/idempotency/guard.test.ts',
  'test/api/requests/bodies.test.ts',
  'test/api/requests/hostile-targets.test.ts',
  'test/api/requests/long-texts.test.ts',
  'test/api/requests/outage.test.ts',
  'test/api/requests/request-ends.test.ts',
  'test/api/resources/lists.test.ts',
  'test/app/figures.test.ts',
  'test/base/fair-gate.test.ts',
  'test/base/log.test.ts',
  'test/base/shutdown.test.ts',
  'test/chains/bsc-trace.test.ts',
  'test/chains/internal-elsewhere.test.ts',
  'test/chains/prices.test.ts',
  'test/chains/rate.test.ts',
  'test/chains/rpc-endpoints.test.ts',
  'test/chains/rpc-faults.test.ts',
  'test/chains/trace-elsewhere.test.ts',
  'test/chains/tron/block/crafted.test.ts',
  'test/chains/tron/endpoints/protocol.test.ts',
  'test/chains/views.test.ts',
  'test/db/half-open.test.ts',
  'test/embedded/temporal-cli.test.ts',
  'test/sdk/client.test.ts',
  'test/services/watcher/between-the-reads.test.ts',
  'test/services/watcher/head-calls.test.ts',
  'test/services/watcher/second-final.test.ts',
  'test/services/watcher/trouble-ends.test.ts',
  'test/services/webhooks/http/target.test.ts',
  'test/services/webhooks/http/transport-pinning.test.ts',
  'test/services/webhooks/http/transport.test.ts',
  'test/temporal/start-turns.test.ts',
];
const TIMED_LANES = 3;

/** The files of a lane. */
export type Lane = readonly string[];

/**
 * Every test file once, in stages that run one after the other, each of lanes that
 * run beside each other and take about as long. Throws when a timed test moved.
 */
export function stages(): readonly (readonly Lane[])[] {
  const files = globSync(PATTERNS, { cwd: ROOT }).sort();
  const timed = new Set(TIMED);
  const gone = TIMED.filter((file) => !files.includes(file));
  if (gone.length > 0)
    throw new Error(`test/support/lanes.ts names tests that are not there: ${gone.join(', ')}`);
  const lanes = Math.min(MOST_LANES, availableParallelism() + LANES_BEYOND_CORES);
  const rest = files.filter((file) => !timed.has(file));
  return [share(TIMED, TIMED_LANES), share(rest, lanes)];
}

/**
 * The longest file first, each to the lane that has least to do: no lane is longer
 * than another by more than its last file.
 */
function share(files: readonly string[], count: number): Lane[] {
  const seconds = readSeconds(SECONDS_FILE);
  const secondsOf = (file: string): number => seconds[file] ?? USUAL_S;
  const lanes = Array.from({ length: count }, () => ({ files: [] as string[], takes: 0 }));
  for (const file of [...files].sort((a, b) => secondsOf(b) - secondsOf(a))) {
    const lane = lanes.reduce((least, other) => (other.takes < least.takes ? other : least));
    lane.files.push(file);
    lane.takes += secondsOf(file);
  }
  return lanes.map((lane) => lane.files).filter((lane) => lane.length > 0);
}

/** Where a lane writes how long its files took. */
export function secondsOfLane(lane: string): string {
  mkdirSync(CACHE, { recursive: true });
  return join(CACHE, `${lane}.json`);
}

/** Puts what the lanes wrote into one table, of the form of the checked-in one. */
export function keepSeconds(): void {
  const files = globSync('*-*.json', { cwd: CACHE }).map((name) => join(CACHE, name));
  const took = files
    .flatMap((file) => Object.entries(readSeconds(file)))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const rounded = took.map(([name, seconds]) => [name, Math.round(seconds * 10) / 10]);
  writeFileSync(join(CACHE, 'seconds.json'), `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
  for (const file of files) rmSync(file);
}

const readSeconds = (file: string): Record<string, number> => JSON.parse(readFileSync(file, 'utf8'));
