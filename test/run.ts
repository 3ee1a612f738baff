import { spawn } from 'node:child_process';
import { delimiter, dirname, join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { installPrograms } from '../dev/support/debian.ts';
import { findTemporalServer } from '../dev/temporal-server-install.ts';
import { processTree, signalProcess } from '../src/base/process-table.ts';
import { findTemporalCli } from '../src/embedded/temporal-cli.ts';
import type { FileResult } from './support/lane.ts';
import { filesOf, runLanes, type Suite } from './support/lanes.ts';
import { findKustomize } from './support/repository/kubernetes/kustomize.ts';
import { findKubernetesSchemas } from './support/repository/kubernetes/schema.ts';
import { findPromtool } from './support/repository/promtool.ts';
import { changedSince, readRepository, testsReachedBy, unitTests } from './support/repository/reach.ts';

// `npm test`, the gate: type check, lint, unused code, regular expressions, then the tests, in several
// processes beside each other: most of them wait for servers. `npm run test:long` (`--long`): the tests
// of test/long. The last line of the output is "N passed, N failed". With arguments, only mocha runs:
// over those files, over the unit tests (`--unit`), or over what a change can reach (`--changed
// [COMMIT]`, without one HEAD). `--check`: types, lint, unused code and the architecture.

const ROOT = join(import.meta.dirname, '..');
const BIN = join(ROOT, 'node_modules/.bin');
/**
 * Compiled once for all processes of a run and for the next
 * one: the tests start the command line some hundred times.
 */
const COMPILED = join(ROOT, 'node_modules/.cache/compiled');
const LIMIT_MS = { gate: 30 * 60_000, long: 90 * 60_000 } as const;
const CHECK_LIMIT_MS = 10 * 60_000;
const EXIT_GRACE_MS = Number(process.env['TEST_EXIT_GRACE_MS'] ?? 30_000);
const END_GRACE_MS = 15_000;
const CHECK_LINES = 120;
const TAIL_LIMIT = 200_000;

/** A unit test that starts a program after all fails by this. */
const NO_PROGRAMS = [
  '--permission',
  '--allow-fs-read=*',
  '--allow-fs-write=*',
  '--allow-addons',
  '--allow-worker',
];
const ARCHITECTURE = ['architecture', 'budgets'].map((name) => `test/repository/${name}.test.ts`);

const CHECKS = [
  { name: 'type check', command: 'tsc', args: ['--noEmit'] },
  { name: 'lint', command: 'biome', args: ['ci', '--colors=off', '.'] },
  { name: 'unused code', command: 'knip', args: [] },
  { name: 'linear patterns', command: process.execPath, args: ['test/patterns.ts', '--form'] },
] as const;

type Count = { passed: number; failed: number; names: string[] };
type Finding = Parameters<typeof findTemporalServer>[0];
type Ended = { code: number | null; signal: NodeJS.Signals | null; output: string };

function childEnv(): NodeJS.ProcessEnv {
  const { GATEWAY_NODE_RETRY: _, ...env } = process.env;
  const color = process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
  // The Node that runs this file comes first, so that tools which ask for `node` get it too.
  const path = [dirname(process.execPath), BIN, env['PATH'] ?? ''].join(delimiter);
  return { ...env, ...color, NODE_COMPILE_CACHE: COMPILED, PATH: path };
}

function endTree(pid: number | undefined): void {
  if (pid === undefined) return;
  const tree = processTree(pid);
  const main = tree[0];
  if (main) signalProcess(main, 'SIGTERM'); // its own exit handlers stop what it started
  setTimeout(() => {
    for (const member of [...processTree(pid), ...tree]) signalProcess(member, 'SIGKILL');
  }, END_GRACE_MS).unref();
}

function runCommand(
  command: string,
  args: readonly string[],
  options: { limitMs: number; onText?: (text: string, end: () => void) => void },
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: ROOT, env: childEnv(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const end = () => endTree(child.pid);
    const limit = setTimeout(() => {
      output += `\nended: not done within ${options.limitMs / 60_000} minutes\n`;
      end();
    }, options.limitMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-TAIL_LIMIT);
        options.onText?.(text, end);
      });
    }
    child.once('error', (error) => {
      output += `${error.message}\n`;
      resolve({ code: 1, signal: null, output });
    });
    // Not `close`: something the tests left behind may hold the pipe open for ever.
    child.once('exit', (code, signal) => {
      clearTimeout(limit);
      setTimeout(() => resolve({ code, signal, output }), 200);
    });
  });
}

function shorten(output: string): string {
  const lines = stripVTControlCharacters(output).trim().split('\n');
  const left = lines.length - CHECK_LINES;
  return left > 0
    ? [...lines.slice(0, CHECK_LINES), `… and ${left} more lines`].join('\n')
    : lines.join('\n');
}

/** All at the same time: each leaves a part of the processors idle. Each is printed when it has ended. */
async function runChecks(checks: readonly (typeof CHECKS)[number][], count: Count): Promise<void> {
  const runCheck = async ({ name, command, args }: (typeof CHECKS)[number]): Promise<void> => {
    const began = Date.now();
    const { code, output } = await runCommand(resolve(BIN, command), args, { limitMs: CHECK_LIMIT_MS });
    count[code === 0 ? 'passed' : 'failed']++;
    if (code !== 0) count.names.push(name);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    console.log(
      code === 0 ? `  ✔ ${name} (${seconds} s)` : `  ✘ ${name} (${seconds} s)\n${shorten(output)}\n`,
    );
  };
  await Promise.all(checks.map(runCheck));
}

/**
 * The titles in mocha's list of what failed, with the suites
 * that they stand in and the first line of the reason.
 */
function failedNames(output: string): string[] {
  const list = output.slice(Math.max(0, output.search(/^ {2}\d+ failing$/m)));
  return [...list.matchAll(/^ {2}\d+\) ((?:.+\n)+?.+):\n\s*(.+)/gm)].map(([, title, reason]) => {
    const path = (title as string).split('\n').map((line) => line.trim());
    return `${path.join(' › ')}\n    ${reason}`;
  });
}

/**
 * Runs mocha and prints what it says to `write`. Whatever
 * goes wrong beside the tests counts as one that failed.
 */
async function runMocha(
  args: readonly string[],
  count: Count,
  write: (text: string) => void = print,
  node: readonly string[] = [],
): Promise<void> {
  let seen = '';
  let hung: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  const onText = (text: string, end: () => void) => {
    write(text);
    seen = (seen + stripVTControlCharacters(text)).slice(-1_000);
    if (hung || !/^ {2}\d+ passing \(/m.test(seen)) return;
    hung = setTimeout(() => {
      problem = `the test process did not end within ${EXIT_GRACE_MS / 1000} s after its last test: something it opened was never closed`;
      end();
    }, EXIT_GRACE_MS);
  };
  const ended = await runCommand(process.execPath, [...node, 'node_modules/mocha/bin/mocha.js', ...args], {
    limitMs: LIMIT_MS.long,
    onText,
  });
  clearTimeout(hung);
  const output = stripVTControlCharacters(ended.output);
  const last = (pattern: RegExp) => Number([...output.matchAll(pattern)].at(-1)?.[1] ?? 0);
  const failed = last(/^ {2}(\d+) failing$/gm);
  const passed = last(/^ {2}(\d+) passing \(/gm);
  count.passed += passed;
  count.failed += failed;
  if (problem === undefined && failed === 0) {
    if (ended.code !== 0)
      problem = `the test process ended with ${ended.signal ?? ended.code} and named no failed test`;
    else if (passed === 0) problem = 'no test ran';
  }
  count.names.push(...failedNames(output));
  if (problem !== undefined) {
    count.failed++;
    count.names.push(problem);
    write(`  ✘ ${problem}\n`);
  }
  if (ended.signal) await (await import('../dev/support/parts.ts')).clearKilledRuns();
}

function print(text: string): void {
  process.stdout.write(text);
}

/** The files of a suite in lanes; each is a line when it has ended, with what failed in it. */
async function runSuite(suite: Suite, count: Count): Promise<void> {
  const onFile = ({ file, seconds, passed, failures }: FileResult): void => {
    count.passed += passed;
    count.failed += failures.length;
    count.names.push(
      ...failures.map(({ title, reason }) => `${file} › ${title}\n    ${reason.split('\n')[0]}`),
    );
    const mark = failures.length === 0 ? '✔' : '✘';
    console.log(`  ${mark} ${file}: ${passed} passed (${seconds.toFixed(1)} s)`);
    for (const { title, reason } of failures) console.log(`\n    ✘ ${title}\n${indented(reason)}\n`);
  };
  const limitMs = LIMIT_MS[suite];
  await runLanes(filesOf(suite), { env: childEnv(), limitMs, onFile });
}

const indented = (text: string): string => text.replace(/^/gm, '      ');

/** Here, where the progress is seen. A test that needs one that cannot be had fails with the reason. */
async function findAll(finds: readonly ((input: Finding) => Promise<unknown>)[]): Promise<void> {
  for (const find of finds)
    await find({ log: console.log, env: process.env }).catch((error: Error) => console.log(error.message));
}

const files = process.argv.slice(2);
const count: Count = { passed: 0, failed: 0, names: [] };
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const member of processTree(process.pid).slice(1)) signalProcess(member, 'SIGTERM');
    setTimeout(() => process.exit(130), END_GRACE_MS).unref();
  });
}
if (files[0] === '--check') {
  await Promise.all([runChecks(CHECKS, count), runMocha([...ARCHITECTURE, '--reporter', 'dot'], count)]);
} else if (files[0] === '--unit') {
  await runMocha(unitTests(readRepository()), count, print, NO_PROGRAMS);
} else if (files[0] === '--changed') {
  const reached = testsReachedBy(readRepository(), changedSince(files[1] ?? 'HEAD'));
  console.log(`The change reaches ${reached.length} test files.`);
  if (reached.length === 0) process.exit(0);
  await runMocha(reached, count);
} else if (files[0] === '--long') {
  installPrograms(console.log, process.env);
  await findAll([findTemporalCli, findTemporalServer, findPromtool, findKustomize, findKubernetesSchemas]);
  process.env['TEST_SEED'] ??= String(Date.now() % 2 ** 31);
  console.log(`TEST_SEED=${process.env['TEST_SEED']}`);
  await runSuite('long', count);
} else if (files.length > 0) {
  await runMocha(files, count);
} else {
  installPrograms(console.log, process.env);
  await findAll([findTemporalCli]);
  await runChecks(CHECKS, count);
  await runSuite('gate', count);
}
// Once more at the end: the list of the first lane stands thousands of lines above.
if (count.names.length > 0) console.log(`Failed:\n${count.names.map((name) => `  ${name}`).join('\n')}\n`);
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exitCode = count.failed === 0 && count.passed > 0 ? 0 : 1;
