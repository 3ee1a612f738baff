import { expect } from 'chai';
import { createLogger } from '../../src/base/log.ts';
import { createShutdown } from '../../src/base/shutdown.ts';
import { runScript } from '../support/repository/scripts.ts';

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
    expect(await shutdown.run('test')).to.equal(false);
    expect(order).to.deep.equal(['last']);
    expect(lines.join()).to.contain('"step":"hangs"');
  });

  it('drains on SIGTERM and exits with 0, with 1 when a step failed', async () => {
    for (const [stop, code] of [
      ['async () => {}', 0],
      ['() => { throw new Error() }', 1],
    ] as const) {
      const { kill, line, ended } = await runScript(`
        import { createLogger } from ROOT/src/base/log.ts; import { createShutdown } from ROOT/src/base/shutdown.ts;
        const shutdown = createShutdown({ log: createLogger({ level: 'silent' }) });
        shutdown.add('step', ${stop}); shutdown.listen();
        setInterval(() => {}, 1000); console.log('ready');`);
      await line();
      kill('SIGTERM');
      expect(await ended).to.equal(code);
    }
  });
});
