import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { openDataDir } from '../../src/base/data-dir.ts';
import { identify, startedAt } from '../../src/base/process-table.ts';
import { startChild, stopLeftovers, waitUntilReady } from '../../src/base/processes.ts';
import { failureOf, gone, runScript } from '../support/repository/scripts.ts';

const silent = () => undefined;

/** Starts all three parts in a process of its own and prints their process numbers. */
const allParts = (dir: string, after = '') => `
  import { openDataDir } from ROOT/src/base/data-dir.ts;
  import { startPostgres } from ROOT/src/embedded/postgres.ts;
  import { startTemporal } from ROOT/src/embedded/temporal.ts;
  import { startAnvil } from ROOT/dev/anvil.ts;
  const dataDir = ${JSON.stringify(dir)}, log = () => {};
  await openDataDir(dataDir, log);
  const parts = await Promise.all([startPostgres({ dataDir, log, fsync: false }), startTemporal({ dataDir, log }), startAnvil({ dataDir, log })]);
  console.log(parts.map((part) => part.pid).join(' '));
  ${after}`;
const FOREVER = 'setInterval(() => {}, 1000);';

async function pidsOf(script: { line(): Promise<string> }): Promise<number[]> {
  const pids = (await script.line()).split(' ').map(Number);
  expect(pids.every((pid) => startedAt(pid) !== undefined)).to.equal(true);
  expect(pids).to.have.length(3);
  return pids;
}

describe('child processes', () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`all end when we get ${signal}`, async () => {
      const script = await runScript(allParts(await tempDir(), FOREVER));
      const pids = await pidsOf(script);
      script.kill(signal);
      expect(await script.ended).to.equal({ SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }[signal]);
      await gone(...pids);
    });
  }

  it('all end when we do, by running out of work and by exit', async () => {
    for (const [after, status] of [
      ['', 0],
      ['process.exit(3);', 3],
    ] as const) {
      const script = await runScript(allParts(await tempDir(), after));
      const pids = (await script.line()).split(' ').map(Number);
      expect(await script.ended).to.equal(status);
      await gone(...pids);
    }
  });

  it('leave the end to whoever else listens for the signal, and still end', async () => {
    const script = await runScript(
      allParts(
        await tempDir(),
        `${FOREVER} process.on('SIGTERM', () => setTimeout(() => process.exit(7), 200));`,
      ),
    );
    const pids = await pidsOf(script);
    script.kill('SIGTERM');
    expect(await script.ended).to.equal(7);
    await gone(...pids);
  });

  it('that a killed parent left behind are stopped by the next start over its folder', async () => {
    const dir = await tempDir();
    const script = await runScript(allParts(dir, FOREVER));
    const pids = await pidsOf(script);
    script.kill('SIGKILL');
    await gone(script.pid);
    expect(pids.every((pid) => startedAt(pid) !== undefined)).to.equal(true);
    const lines: string[] = [];
    const held = await openDataDir(dir, (line) => lines.push(line));
    await gone(...pids);
    expect(lines.map((line) => line.match(/stopping (\w+)/)?.[1]).sort()).to.deep.equal([
      'PostgreSQL',
      'Temporal',
      'anvil',
    ]);
    held.release();
    const again = await runScript(allParts(dir, ''));
    await again.line();
    expect(await again.ended).to.equal(0);
  });

  it('of a parent that still runs are left alone', async () => {
    const dir = await tempDir();
    const script = await runScript(allParts(dir, FOREVER));
    const pids = await pidsOf(script);
    expect(await stopLeftovers(dir, silent)).to.deep.equal([]);
    expect(pids.every((pid) => startedAt(pid) !== undefined)).to.equal(true);
    script.kill('SIGTERM');
    await script.ended;
  });

  it('are never mistaken for a stranger who was given their number', async () => {
    const dir = await tempDir();
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore' });
    const pid = stranger.pid ?? 0;
    const owner = { pid: 2 ** 22 + 1, startedAt: 'gone' };
    const record = { name: 'anvil', pid, startedAt: 'earlier', stopSignal: 'SIGKILL', owner };
    writeFileSync(join(dir, 'children.json'), JSON.stringify([record]));
    expect(await stopLeftovers(dir, silent)).to.deep.equal([]);
    expect(startedAt(pid)).to.be.a('string');
    writeFileSync(join(dir, 'children.json'), JSON.stringify([{ ...record, ...identify(pid) }]));
    expect(await stopLeftovers(dir, silent)).to.deep.equal(['anvil']);
    expect(startedAt(pid)).to.equal(undefined);
  });

  it('do not depend on a record that is whole', async () => {
    const dir = await tempDir();
    for (const damaged of ['', '[', '{}', '[null, 1, {"pid": 1}]']) {
      writeFileSync(join(dir, 'children.json'), damaged);
      expect(await stopLeftovers(dir, silent), damaged).to.deep.equal([]);
    }
  });

  it('are forgotten when they were stopped', async () => {
    const dataDir = await tempDir();
    const child = await startChild({ name: 'sleeper', command: 'sleep', args: ['60'], dataDir });
    expect(JSON.parse(readFileSync(join(dataDir, 'children.json'), 'utf8'))).to.have.length(1);
    await child.stop();
    await child.stop();
    expect(child.running()).to.equal(false);
    expect(JSON.parse(readFileSync(join(dataDir, 'children.json'), 'utf8'))).to.deep.equal([]);
  });

  it('that are frozen can be stopped, and those that do not listen are killed with all they started', async () => {
    const frozen = await startChild({ name: 'frozen', command: 'sleep', args: ['60'] });
    frozen.pause();
    await frozen.stop();
    expect(frozen.running()).to.equal(false);
    const deaf = await startChild({
      name: 'deaf',
      command: 'sh',
      args: ['-c', 'trap "" TERM; sleep 61 & echo $!; wait'],
      stopTimeoutMs: 200,
    });
    await waitUntilReady(deaf, { name: 'deaf', timeoutMs: 5_000, ready: () => /\d/.test(deaf.output()) });
    const inner = Number(deaf.output());
    await deaf.stop();
    expect([startedAt(deaf.pid), startedAt(inner)]).to.deep.equal([undefined, undefined]);
  });

  it('that cannot start or never answer give a sentence with their last words', async () => {
    expect(await failureOf(startChild({ name: 'the thing', command: '/nowhere/thing', args: [] }))).to.match(
      /^the thing cannot be started from \/nowhere\/thing .*check that/,
    );
    const failing = await startChild({ name: 'x', command: 'sh', args: ['-c', 'echo sorry >&2; exit 4'] });
    expect(
      await failureOf(waitUntilReady(failing, { name: 'the thing', timeoutMs: 5_000, ready: () => false })),
    ).to.match(/the thing ended with 4 while starting.*sorry/);
    const silentOne = await startChild({ name: 'x', command: 'sleep', args: ['60'] });
    expect(
      await failureOf(waitUntilReady(silentOne, { name: 'the thing', timeoutMs: 100, ready: () => false })),
    ).to.match(/did not answer within 0.1 s/);
    expect(silentOne.running()).to.equal(false);
  });
});
