import { expect } from 'chai';
import fc from 'fast-check';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { type Limit, refill, waitMs } from '../../../src/domain/limits.ts';
import { createRateLimiter, type RateLimiter } from '../../../src/services/access/rate-limit.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { testDeps } from '../../support/gateway.ts';

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
});
