import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../../dev/support/eventually.ts';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { type Limit, refill, waitMs } from '../../../src/domain/limits.ts';
import { createRateLimiter, type RateLimiter } from '../../../src/services/access/rate-limit.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { testDeps } from '../../support/gateway.ts';
import { startGate } from '../../support/http/gate.ts';

const BUCKET: Limit = { kind: 'bucket', capacity: 200, perSecond: 100 };
const WINDOW: Limit = { kind: 'window', capacity: 20, windowMs: 60_000 };
const CREDIT = 20;

describe('what a client has left', () => {
  it('is never above the capacity, grows with time and is there when the wait is over', () => {
    const number = fc.integer({ min: 1, max: 1_000 });
    const limits = fc.oneof(
      fc.record({ kind: fc.constant('bucket' as const), capacity: number, perSecond: number }),
      fc.record({
        kind: fc.constant('window' as const),
        capacity: number,
        windowMs: fc.integer({ min: 1, max: 100_000 }),
      }),
    );
    fc.assert(
      fc.property(
        limits,
        fc.integer({ min: -500, max: 1_000 }),
        fc.nat(100_000),
        (limit, start, passedMs) => {
          const before = { tokens: Math.min(start, limit.capacity), sinceMs: 1_000 };
          const after = refill(limit, before, 1_000 + passedMs);
          expect(after.tokens).to.be.within(before.tokens, limit.capacity);
          const wait = waitMs(limit, after, 1, 1_000 + passedMs);
          expect(wait === 0).to.equal(after.tokens >= 1);
          expect(refill(limit, after, 1_000 + passedMs + wait + 1).tokens).to.be.at.least(1);
        },
      ),
    );
    expect(refill(BUCKET, { tokens: 5, sinceMs: 10_000 }, 1_000).tokens, 'a clock that went back').to.equal(
      5,
    );
  });
});

describe('a limit that processes share', function () {
  this.timeout(30_000);
  let database: FreshDatabase;
  let deps: Deps;
  let number = 0;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, []);
  });
  after(async () => {
    await deps.orm.close(true);
    await database.drop();
  });

  /**
   * Limiters as processes have them: over one table, with memories
   * of their own. Their clock stands still; the database's goes on.
   */
  const processes = (count: number, limit: Limit, creditPerClient = CREDIT) => {
    number += 1;
    const clock = { nowMs: 0 };
    const options = { name: `test${number}`, limit, creditPerClient, nowMs: () => clock.nowMs };
    return {
      clock,
      limiters: Array.from({ length: count }, () => createRateLimiter(deps, options)),
      name: options.name,
    };
  };
  const sql = (text: string, values: unknown[]) => deps.orm.em.fork().execute<unknown[]>(text, values);
  const takeMany = async (limiter: RateLimiter | undefined, count: number, client = 'a') => {
    const verdicts = await Promise.all(Array.from({ length: count }, () => limiter?.take(client)));
    return verdicts.filter((verdict) => verdict?.allowed).length;
  };

  it('lets exactly the burst pass at once in one process', async () => {
    // So slow that the database's own clock brings nothing while this runs.
    const { limiters } = processes(1, { kind: 'bucket', capacity: 50, perSecond: 0.001 });
    expect(await takeMany(limiters[0], 80)).to.equal(50);
    const refused = await limiters[0]?.take('a');
    expect(refused).to.deep.include({ allowed: false, limit: 50, remaining: 0 });
    expect(refused?.retryAfterMs).to.be.within(900_000, 1_000_000);
    expect(refused?.resetMs).to.be.within(49_000_000, 50_000_000);
    expect(await takeMany(limiters[0], 5, 'b'), 'another client').to.equal(5);
  });

  it('is exceeded by no more than the credits when many processes are used at once', async () => {
    const { limiters } = processes(8, { kind: 'bucket', capacity: 200, perSecond: 0.001 });
    const passed = await Promise.all(limiters.map((limiter) => takeMany(limiter, 200)));
    const sum = passed.reduce((total, one) => total + one, 0);
    expect(sum).to.be.within(200, 200 + 8 * CREDIT);
    await Promise.all(limiters.map((limiter) => limiter.sync()));
    for (const limiter of limiters) expect(await takeMany(limiter, 50)).to.be.at.most(CREDIT);
    await Promise.all(limiters.map((limiter) => limiter.sync()));
    for (const limiter of limiters) expect(await takeMany(limiter, 1)).to.equal(0);
  });

  it('begins anew when its window is over, not before, whoever used it up', async () => {
    const { limiters, clock, name } = processes(2, WINDOW, Number.POSITIVE_INFINITY);
    expect(await takeMany(limiters[0], 30)).to.equal(20);
    await limiters[0]?.sync();
    await limiters[1]?.take('a');
    await limiters[1]?.sync();
    expect((await limiters[1]?.take('a'))?.allowed).to.equal(false);
    clock.nowMs += 40_000;
    expect(await takeMany(limiters[0], 1)).to.equal(0);
    await sql(`update rate_limits set since = since - interval '61 seconds' where id like ?`, [`${name}:%`]);
    clock.nowMs += 21_000;
    expect(await takeMany(limiters[0], 30)).to.equal(20);
    await limiters[0]?.sync();
  });

  it('writes what was used by many clients in one statement, and removes rows that say nothing any more', async () => {
    const { limiters, name, clock } = processes(1, BUCKET);
    const clients = Array.from({ length: 300 }, (_, index) => `client-${index}`);
    await Promise.all(clients.map((client) => limiters[0]?.take(client)));
    await limiters[0]?.sync();
    const rows = async () => (await sql('select 1 from rate_limits where id like ?', [`${name}:%`])).length;
    expect(await rows()).to.equal(300);
    await sql(`update rate_limits set since = now() - interval '1 hour' where id like ?`, [
      `${name}:client-1%`,
    ]);
    clock.nowMs += 61_000;
    await limiters[0]?.take('client-2');
    await limiters[0]?.sync();
    expect(await rows()).to.equal(300 - 111);
  });

  it('without its database lets the credit pass, then fails; nothing that was used is forgotten when it is back', async () => {
    const gate = await startGate();
    const url = new URL(database.url);
    gate.target(url.href);
    url.port = new URL(gate.url).port;
    const own = await testDeps(url.href, []);
    const started = (name: string, limit: Limit, creditPerClient: number) =>
      createRateLimiter(own, { name, limit, creditPerClient, nowMs: () => 0 });
    const limiter = started('away', { kind: 'bucket', capacity: 100, perSecond: 0.001 }, 10);
    const loose = started('loose', WINDOW, Number.POSITIVE_INFINITY);
    await limiter.take('a');
    await limiter.sync();
    await gate.close();
    const settled = await Promise.allSettled(Array.from({ length: 30 }, () => limiter.take('a')));
    expect(settled.filter(({ status }) => status === 'fulfilled')).to.have.length(10);
    expect(await takeMany(loose, 30), 'one that never waits').to.equal(20);
    await gate.open();
    await eventually('a connection', () =>
      limiter.sync().then(
        () => true,
        () => false,
      ),
    );
    expect(limiter.peek('a').remaining).to.equal(89);
    await own.orm.close(true);
    await gate.close();
  });
});
