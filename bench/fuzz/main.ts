import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stopAllChildren } from '../../src/base/processes.ts';
import { renderLarge, sendLarge } from './large.ts';
import { merge, renderReport } from './report.ts';
import { findSchemathesis, type Result, runOnce } from './run.ts';
import { type Stage, setStage } from './stage.ts';

/**
 * `npm run fuzz -- --requests N --seed S`: generated requests against a whole gateway,
 * by key and by session in both modes, with every check that Schemathesis has. With
 * `--large`, requests of the largest size and the worst content instead. Exit 0 without
 * a failure, 1 with one (the folder with logs and failures is kept), 2 for wrong usage.
 */
const USAGE = 'Usage: npm run fuzz -- [--large] [--requests N] [--seed N] [--keep]\n';
const DEFAULT_REQUESTS = { large: 2_000, generated: 20_000 };
/** No request of whatever size may keep the server longer. */
const LARGE_LIMIT_MS = 500;
const MAX_REQUESTS = 10_000_000;
const MAX_ROUNDS = 1_000;
/** Roughly what one more example of each operation costs in one run. */
const REQUESTS_PER_EXAMPLE = 60;
const MAX_EXAMPLES = 60;

type Options = NonNullable<ReturnType<typeof readOptions>>;

function readOptions() {
  try {
    const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
    const { values } = parseArgs({ options: { large: flag, requests: text, seed: text, keep: flag } });
    const { large = false, keep = false } = values;
    const requests = Number(values.requests ?? DEFAULT_REQUESTS[large ? 'large' : 'generated']);
    const seed = Number(values.seed ?? randomInt(2 ** 31));
    const isWhole = Number.isInteger(requests) && Number.isInteger(seed) && seed >= 0;
    return isWhole && requests >= 1 && requests <= MAX_REQUESTS ? { large, requests, seed, keep } : undefined;
  } catch {
    return undefined;
  }
}

const beganMs = Date.now();
const say = (line: string) =>
  void process.stdout.write(`${((Date.now() - beganMs) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);

/** Does the work with a whole gateway, which ends with it. */
async function onStage<T>(folder: string, work: (stage: Stage) => Promise<T>): Promise<T> {
  let stage: Stage | undefined;
  try {
    stage = await setStage(folder, beganMs);
    return await work(stage);
  } finally {
    await stage?.stop().catch(() => undefined);
    await stopAllChildren();
  }
}

/** Every caller in turn, each with a seed of its own, until there were enough; true without a failure. */
async function fuzzGenerated({ requests, seed: first }: Options, folder: string): Promise<boolean> {
  const program = findSchemathesis(say, process.env);
  const result = await onStage(folder, async ({ schemaUrl, credentials }) => {
    const results: Result[] = [];
    const wanted = Math.floor(requests / credentials.length / REQUESTS_PER_EXAMPLE);
    const examples = Math.min(MAX_EXAMPLES, Math.max(1, wanted));
    for (let round = 0; round < MAX_ROUNDS && merge(results).requests < requests; round += 1)
      for (const [index, credential] of credentials.entries()) {
        const [name, seed] = [`${round}-${index}`, first + round * credentials.length + index];
        const one = await runOnce({ program, schemaUrl, credential, folder, name, seed, examples });
        results.push(one);
        const failed = Object.values(one.failureCounts).reduce((sum, count) => sum + count, 0);
        say(`${credential.name}, seed ${seed}: ${one.requests} requests, ${failed} failures`);
      }
    return merge(results);
  });
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result, null, 2));
  process.stdout.write(`\n${renderReport(result)}\n`);
  return Object.keys(result.failureCounts).length === 0 && result.requests >= requests;
}

/** Requests as large as they may be, by every caller; true without a failure. */
async function fuzzLarge({ requests, seed }: Options, folder: string): Promise<boolean> {
  const result = await onStage(folder, ({ credentials, schemaUrl }) => {
    const { origin } = new URL(schemaUrl);
    return sendLarge({ origin, credentials, requests, seed, limitMs: LARGE_LIMIT_MS });
  });
  process.stdout.write(`\n${renderLarge(result, LARGE_LIMIT_MS)}\n`);
  return result.failures.length === 0;
}

async function main(): Promise<number> {
  const options = readOptions();
  if (!options) {
    process.stderr.write(USAGE);
    return 2;
  }
  const folder = mkdtempSync(join(tmpdir(), 'gateway-fuzz-'));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user where we are root
  say(
    `npm run fuzz -- ${options.large ? '--large ' : ''}--requests ${options.requests} --seed ${options.seed} (files in ${folder})`,
  );
  let passed = false;
  try {
    passed = options.large ? await fuzzLarge(options, folder) : await fuzzGenerated(options, folder);
  } catch (error) {
    process.stderr.write(`\nThe run broke off: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  if (passed && !options.keep) rmSync(folder, { recursive: true, force: true });
  else process.stdout.write(`\nLogs and failures are kept in ${folder}.\n`);
  return passed ? 0 : 1;
}

process.exit(await main());
