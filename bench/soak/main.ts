import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stopAllChildren, stopLeftovers } from '../../src/base/processes.ts';
import { gather, reconcile } from './gather.ts';
import { judge } from './judge/judge.ts';
import { perform } from './perform.ts';
import { makePlan } from './plan/make-plan.ts';
import { planHash } from './plan/plan.ts';
import { waitUntilQuiet } from './quiet.ts';
import { renderPlan, renderReport } from './report.ts';
import { type Stage, setStage } from './stage.ts';
import { fundFirst } from './troubles.ts';

/**
 * `npm run soak -- --minutes N --seed S [--dev-server]`: the whole gateway, role by role, under random
 * money on both chains and random faults, and at the end a judge who goes by the chains and the
 * receivers' own records. Exit 0 without a difference, 1 with one (logs and plan are kept, as they are
 * with `--keep`), 2 for wrong usage. `--plan` prints the plan's hash and its actions by kind, and runs
 * nothing. The seed decides what is done and when; how that interleaves with the processes is up to
 * the machine.
 */
const USAGE = 'Usage: npm run soak -- [--minutes N] [--seed TEXT] [--dev-server] [--keep] [--plan]\n';
const PREFIX = 'gateway-soak-';
const MAX_MINUTES = 24 * 60;

type Options = NonNullable<ReturnType<typeof readOptions>>;

function readOptions() {
  try {
    const [text, flag] = [{ type: 'string' }, { type: 'boolean' }] as const;
    const { values } = parseArgs({
      options: { minutes: text, seed: text, 'dev-server': flag, keep: flag, plan: flag },
    });
    const minutes = Number(values.minutes ?? '5');
    if (!(minutes > 0 && minutes <= MAX_MINUTES)) return undefined;
    return { ...values, minutes, seed: values.seed ?? randomBytes(4).toString('hex') };
  } catch {
    return undefined;
  }
}

const beganMs = Date.now();
const say = (line: string) =>
  void process.stdout.write(`${((Date.now() - beganMs) / 1_000).toFixed(1).padStart(7)} s  ${line}\n`);

/** Runs everything; true when the judge has nothing to say. */
async function soak(options: Options, folder: string): Promise<boolean> {
  const plan = makePlan(options.seed, options.minutes);
  let stage: Stage | undefined;
  let stopped = false;
  try {
    const devServer = options['dev-server'] ?? false;
    stage = await setStage({ plan, folder, devServer, log: say, fund: fundFirst });
    say(`${plan.actions.length} actions within ${options.minutes} minutes, plan ${planHash(plan)}`);
    const { stopMining, ...performed } = await perform(stage, plan, say);
    writeFileSync(join(folder, 'done.log'), `${performed.done.log.join('\n')}\n`);
    say('all faults are lifted');
    const restless = await waitUntilQuiet(stage, say);
    say(restless === undefined ? 'quiet; balances are compared' : `NOT quiet: ${restless}`);
    const reconciled = await reconcile(stage, say);
    await stopMining();
    say(`${reconciled.found} deposits found by balance alone, ${reconciled.claimed} claimed; comparing`);
    const records = await gather(stage, performed.done, reconciled);
    const late =
      restless === undefined ? [] : [{ rule: 'the gateway comes to rest', subject: 'all', detail: restless }];
    const differences = [...late, ...judge(records)];
    await stage.stop();
    stopped = true;
    const report = renderReport(stage, { ...performed, reconciled, records, differences });
    for (const role of stage.roles)
      writeFileSync(join(folder, role.name, 'ended.log'), role.ended().join('\n'));
    writeFileSync(join(folder, 'report.txt'), `${report}\n`);
    process.stdout.write(`\n${report}\n`);
    return differences.length === 0;
  } finally {
    // The supervisors first: else they start again what is stopped.
    if (!stopped) await stage?.stop().catch(() => undefined);
    await stopAllChildren();
  }
}

/** Stops what a run that was killed itself left running; runs that are under way are left alone. */
async function clearKilledRuns(): Promise<void> {
  for (const run of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX)))
    for (const part of readdirSync(join(tmpdir(), run), { withFileTypes: true }))
      if (part.isDirectory()) await stopLeftovers(join(tmpdir(), run, part.name), say);
}

async function main(): Promise<number> {
  const options = readOptions();
  if (!options) {
    process.stderr.write(USAGE);
    return 2;
  }
  if (options.plan) {
    process.stdout.write(`${renderPlan(makePlan(options.seed, options.minutes))}\n`);
    return 0;
  }
  await clearKilledRuns();
  const folder = mkdtempSync(join(tmpdir(), PREFIX));
  chmodSync(folder, 0o711); // PostgreSQL runs as another user where we are root
  const again = `npm run soak -- --minutes ${options.minutes} --seed ${options.seed}${options['dev-server'] ? ' --dev-server' : ''}`;
  say(`${again} (files in ${folder})`);
  let passed = false;
  try {
    passed = await soak(options, folder);
  } catch (error) {
    process.stderr.write(`\nThe soak broke off: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  if (passed && !options.keep) rmSync(folder, { recursive: true, force: true });
  else process.stdout.write(`\nLogs, plan and report are kept in ${folder}. Once more: ${again}\n`);
  return passed ? 0 : 1;
}

process.exit(await main());
