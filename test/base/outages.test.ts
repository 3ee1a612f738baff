import { expect } from 'chai';
import { GateFull } from '../../src/base/async/fair-gate.ts';
import { OutOfTime } from '../../src/base/async/within.ts';
import { logFailure } from '../../src/base/errors.ts';
import { createLogger } from '../../src/base/log.ts';
import { Outages } from '../../src/base/outages.ts';

const MINUTE_MS = 60_000;
const away = () => Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { code: 'ECONNREFUSED' });

/** An outage's lines under a clock of the test's own. */
function watched() {
  const said: string[] = [];
  const fields: Readonly<Record<string, unknown>>[] = [];
  const clock = { ms: 1_000_000 };
  const outages = new Outages(
    (level, more, text) => {
      said.push(`${level}: ${text}`);
      fields.push(more);
    },
    () => clock.ms,
  );
  /** Time goes by in seconds, and each of them fails `perSecond` times. */
  const pass = async (ms: number, perSecond = 0) => {
    for (let at = 0; at < ms; at += 1_000) {
      clock.ms += 1_000;
      for (let n = 0; n < perSecond; n += 1) outages.note('PostgreSQL', 'connection refused');
      outages.look();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { said, fields, outages, pass };
}

describe('the lines of an outage', () => {
  it('are one when it begins, one a minute and one when it ends, however much fails', async () => {
    const { said, fields, outages, pass } = watched();
    let back = false;
    outages.know('PostgreSQL', {
      name: 'PostgreSQL at db',
      probe: async () => {
        if (!back) throw away();
      },
    });
    await pass(3.5 * MINUTE_MS, 50);
    back = true;
    await pass(10_000);
    expect(said).to.deep.equal([
      'warn: waiting for PostgreSQL at db: connection refused; nothing is lost, and it goes on by itself',
      'warn: still waiting for PostgreSQL at db after 60 s: connection refused',
      'warn: still waiting for PostgreSQL at db after 120 s: connection refused',
      'warn: still waiting for PostgreSQL at db after 180 s: connection refused',
      'info: PostgreSQL at db answers again after 210 s',
    ]);
    // What was left out is counted, so that nothing is hidden.
    expect(fields.at(-1)?.['linesLeftOut']).to.equal(210 * 50 - 1);
  });
});

describe('the lines of requests that our own limits refuse', () => {
  it('are one when it begins, one a minute with what was counted, and one when it is over', async () => {
    const { said, fields, outages, pass } = watched();
    for (let at = 0; at < 65; at += 1) {
      for (let n = 0; n < 100; n += 1) outages.note('requests', 'no result within 1800 ms');
      await pass(1_000);
    }
    // Nothing is away: what is slow is still told beside it.
    expect(outages.any).to.equal(false);
    await pass(31_000);
    expect(said).to.deep.equal([
      'warn: requests are refused: no result within 1800 ms; more come than are answered in time, and each can be sent again',
      'warn: requests are still refused after 60 s: no result within 1800 ms',
      'info: requests are answered again after 94 s',
    ]);
    expect(fields.map(({ linesLeftOut: left }) => left)).to.deep.equal([undefined, 5_999, 6_499]);
  });
});

describe('a log during an outage', () => {
  const capture = () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) };
    return { lines, log: createLogger({ level: 'info', destination }) };
  };

  it('has one warning for all refusals by our own limits, and each fault with its stack', () => {
    const { lines, log } = capture();
    const late = new OutOfTime('no result within 1800 ms');
    const cancelled = Object.assign(new Error('canceling statement due to statement timeout'), {
      code: '57014',
    });
    const full = new GateFull('no turn within 1700 ms', { behindOwn: false });
    for (const err of [late, new Error('a page', { cause: late }), cancelled, full])
      logFailure(log.child({ component: 'api' }), { err }, 'a request failed');
    logFailure(log, { err: new TypeError('undefined is not a function') }, 'a request failed');
    expect(lines.map(({ level, part, err }) => [level, part, typeof err])).to.deep.equal([
      ['warn', 'requests', 'undefined'],
      ['error', undefined, 'object'],
    ]);
  });

  it('has one line for all that only says so, whatever wraps it, and no stack', () => {
    const { lines, log } = capture();
    const rpc = Object.assign(new Error('no endpoint answers'), { name: 'RpcUnavailable' });
    const errors = [
      Object.assign(new Error('connect ECONNREFUSED https://user:hunter2@db/'), { code: 'ECONNREFUSED' }),
      away(),
      new Error('a statement failed', { cause: away() }),
      new AggregateError([away(), away()], 'every address failed'),
      Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
      Object.assign(new Error('cannot execute UPDATE in a read-only transaction'), { code: '25006' }),
      Object.assign(new Error('14 UNAVAILABLE: no connection'), { code: 14 }),
      new Error('activity failed', { cause: Object.assign(new Error('4 DEADLINE_EXCEEDED'), { code: 4 }) }),
      Object.assign(new Error('transport'), { name: 'TransportError' }),
      rpc,
    ];
    for (const err of errors) for (const part of ['a', 'b']) log.child({ part }).error({ err }, 'it failed');
    expect(lines.map(({ msg }) => String(msg).replace(/: .*/, ''))).to.deep.equal([
      'waiting for PostgreSQL',
      'waiting for Temporal',
      'waiting for RPC endpoints',
    ]);
    expect(JSON.stringify(lines)).not.to.match(/stack|hunter2/);
  });

  it('keeps every line of what is ours, with its stack, and what is not about the outage', () => {
    const { lines, log } = capture();
    log.error({ err: away() }, 'it failed');
    const ours = [
      new TypeError('undefined is not a function'),
      // What is away is told by codes and names; words are anybody's.
      new Error('Connection terminated: connect ECONNREFUSED, 14 UNAVAILABLE'),
      Object.assign(new Error('duplicate key value violates unique constraint'), { code: '23505' }),
      Object.assign(new Error('deadlock detected'), { code: '40P01' }),
      Object.assign(new Error('no such file'), { code: 'ENOENT' }),
    ];
    for (const err of ours) log.error({ err }, 'a defect');
    log.warn({ deposit: 'x' }, 'a deposit waits');
    log.fatal({ err: away() }, 'the process ends');
    expect(lines.map(({ msg }) => String(msg).split(':')[0])).to.deep.equal([
      'waiting for PostgreSQL',
      ...ours.map(() => 'a defect'),
      'a deposit waits',
      'the process ends',
    ]);
    for (const line of lines.slice(1, 6)) expect(JSON.stringify(line)).to.contain('outages.test.ts');
  });
});
