import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createLogger } from '../../src/base/log.ts';
import { createShutdown } from '../../src/base/shutdown.ts';

describe('shutdown', () => {
  let lines: string[];
  const log = createLogger({ level: 'info', destination: { write: (line: string) => lines.push(line) } });
  beforeEach(() => {
    lines = [];
  });

  it('stops what was started last first, one after the other, once', async () => {
    const order: string[] = [];
    const shutdown = createShutdown({ log });
    shutdown.add('database', () => void order.push(`database, aborted ${shutdown.signal.aborted}`));
    shutdown.add('server', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push('server');
    });
    expect(shutdown.signal.aborted).to.equal(false);
    expect(await Promise.all([shutdown.run('test'), shutdown.run('again')])).to.deep.equal([true, true]);
    expect(order).to.deep.equal(['server', 'database, aborted true']);
  });

  it('runs the remaining steps after one that fails, and says so', async () => {
    const order: string[] = [];
    const shutdown = createShutdown({ log });
    shutdown.add('last', () => void order.push('last'));
    shutdown.add('throws', () => {
      throw new Error('sync');
    });
    shutdown.add('rejects', () => Promise.reject(new Error('async')));
    expect(await shutdown.run('test')).to.equal(false);
    expect(order).to.deep.equal(['last']);
    expect(lines.filter((line) => line.includes('a step of the shutdown failed'))).to.have.length(2);
  });

  it('does not wait beyond its limit, but still calls every step', async () => {
    const order: string[] = [];
    const shutdown = createShutdown({ log, timeoutMs: 50 });
    shutdown.add('last', () => void order.push('last'));
    shutdown.add('hangs', () => new Promise<never>(() => undefined));
    const started = performance.now();
    expect(await shutdown.run('test')).to.equal(false);
    expect(performance.now() - started).to.be.within(40, 10_000);
    expect(order).to.deep.equal(['last']);
    expect(lines.join()).to.contain('"step":"hangs"');
  });

  async function child(
    stop: string,
  ): Promise<{ kill: (signal: NodeJS.Signals) => void; ended: Promise<unknown[]> }> {
    const sources = new URL('../../src/', import.meta.url);
    const script = `import { createLogger } from '${new URL('base/log.ts', sources)}'; import { createShutdown } from '${new URL('base/shutdown.ts', sources)}';
      const shutdown = createShutdown({ log: createLogger({ level: 'silent' }) }); shutdown.add('step', ${stop}); shutdown.listen();
      setInterval(() => {}, 1000); console.log('ready');`;
    const running = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
      cwd: fileURLToPath(sources),
    });
    const ended = once(running, 'exit');
    await once(running.stdout, 'data');
    return { kill: (signal) => void running.kill(signal), ended };
  }

  it('drains on SIGTERM and exits with 0, with 1 when a step failed', async () => {
    for (const [stop, code] of [
      ['async () => {}', 0],
      ['() => { throw new Error() }', 1],
    ] as const) {
      const { kill, ended } = await child(stop);
      kill('SIGTERM');
      expect(await ended).to.deep.equal([code, null]);
    }
  });

  it('leaves at once on a second signal', async () => {
    const { kill, ended } = await child('() => new Promise(() => {})');
    kill('SIGINT');
    setTimeout(() => kill('SIGTERM'), 100);
    expect(await ended).to.deep.equal([130, null]);
  });
});
