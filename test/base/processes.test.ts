import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempDir } from '../../dev/support/parts.ts';
import { openDataDir } from '../../src/base/data-dir.ts';
import { identify, startedAt } from '../../src/base/process-table.ts';
import { startChild, stopLeftovers, waitUntilReady } from '../../src/base/processes.ts';
import { gone, runScript } from '../support/repository/scripts.ts';

const silent = () => undefined;

/** Opens its folder, starts three children in a process of its own, and prints their process numbers. */
const script = (dir: string, start: string, after: string) => `
  import { openDataDir } from ROOT/src/base/data-dir.ts;
  import { startChild } from ROOT/src/base/processes.ts;
  import { startPostgres } from ROOT/src/embedded/postgres.ts;
  import { startTemporal } from ROOT/src/embedded/temporal.ts;
  import { startAnvil } from ROOT/dev/anvil.ts;
  const dataDir = ${JSON.stringify(dir)}, log = () => {};
  await openDataDir(dataDir, log);
  const parts = await Promise.all([${start}]);
  console.log(parts.map((part) => part.pid).join(' '));
  ${after}`;
const SLEEPERS = ['SIGTERM', 'SIGINT', 'SIGKILL']
  .map(
    (stopSignal) =>
      `startChild({ name: 'x', command: 'sleep', args: ['600'], dataDir, stopSignal: '${stopSignal}' })`,
  )
  .join();
const SERVERS =
  'startPostgres({ dataDir, log, fsync: false }), startTemporal({ dataDir, log }), startAnvil({ dataDir, log })';
const FOREVER = 'setInterval(() => {}, 1000);';

async function started(dir: string, after: string, start = SLEEPERS) {
  const running = await runScript(script(dir, start, after));
  const pids = (await running.line()).split(' ').map(Number);
  expect(pids).to.have.length(3);
  return { ...running, pids, alive: () => pids.filter((pid) => startedAt(pid) !== undefined).length };
}

describe('child processes', function () {
  this.timeout(60_000);

  const OWN_HANDLER = `${FOREVER} process.on('SIGTERM', () => setTimeout(() => process.exit(7), 200));`;
  for (const [what, after, signal, status] of [
    ['we get SIGTERM', FOREVER, 'SIGTERM', 143],
    ['whoever else listens for the signal ends us', OWN_HANDLER, 'SIGTERM', 7],
    ['we exit', 'process.exit(3);', undefined, 3],
  ] as const)
    it(`all end when ${what}`, async () => {
      const parent = await started(await tempDir(), after);
      if (signal) {
        expect(parent.alive()).to.equal(3);
        parent.kill(signal);
      }
      expect(await parent.ended).to.equal(status);
      await gone(...parent.pids);
    });

  it('that a killed parent left behind are stopped by the next start over its folder, and not while it runs', async () => {
    const dir = await tempDir();
    const parent = await started(dir, FOREVER, SERVERS);
    expect(await stopLeftovers(dir, silent)).to.deep.equal([]);
    parent.kill('SIGKILL');
    await gone(parent.pid);
    expect(parent.alive()).to.equal(3);
    const lines: string[] = [];
    const held = await openDataDir(dir, (line) => lines.push(line));
    await gone(...parent.pids);
    expect(lines.map((line) => line.match(/stopping (\w+)/)?.[1]).sort()).to.deep.equal([
      'PostgreSQL',
      'Temporal',
      'anvil',
    ]);
    held.release();
    const again = await started(dir, FOREVER, SERVERS);
    again.kill('SIGTERM');
    expect(await again.ended).to.equal(143);
    await gone(...again.pids);
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
});
