import { expect } from 'chai';
import { createBudget } from '../../../../src/chains/tron/budget.ts';
import { createGenesis } from '../../../../src/chains/tron/genesis.ts';
import { createTronPool } from '../../../../src/chains/tron/protocol.ts';
import { type Answer, madeUpClock, startNode, type TestNode } from './node.ts';

const { signal } = new AbortController();
const suspended = (time: string): Answer => ({
  status: 403,
  json: { Error: `the key is suspended for ${time}` },
});
const retryAfter = (text: string): Answer => ({ status: 429, headers: { 'retry-after': text }, text: '' });

/** Pauses that no endpoint can mean. */
const WISHES: readonly [name: string, answer: Answer][] = [
  ['a ban of thirty years', suspended('1000000000 s')],
  ['a ban of more digits than a number has', suspended(`${'9'.repeat(400)} s`)],
  ['a ban that ended', suspended('-30 s')],
  ['a ban of no number', suspended('NaN s')],
  ['a pause of a day', retryAfter('86400')],
  ['a pause of more digits than a number has', retryAfter('9'.repeat(400))],
  ['a pause until the year 9999', retryAfter('Fri, 31 Dec 9999 23:59:59 GMT')],
  ['a pause until the past', retryAfter('Thu, 01 Jan 1970 00:00:00 GMT')],
  ['a negative pause', retryAfter('-1')],
  ['an endless pause', retryAfter('Infinity')],
  ['a pause that is a sentence', retryAfter('when pigs fly')],
];

describe('the pause that an endpoint of Tron asks for', () => {
  let first: TestNode;
  let second: TestNode;
  before(async () => {
    first = await startNode();
    second = await startNode();
  });
  after(() => {
    first?.stop();
    second?.stop();
  });

  const scene = (urls: readonly string[]) => {
    const clock = madeUpClock();
    const pool = createTronPool({
      name: 'tron',
      urls,
      apiKey: 'the-key-of-both',
      budget: createBudget({ perDay: 100_000, perSecond: 1_000, ...clock }),
      genesis: createGenesis({ usdtContract: 'TGQ1Rb3iQbuBUNcBV3Qo4AakT9PtQJDDmJ' }),
      ...clock,
    });
    const head = () =>
      pool.run(async (session) => {
        await session.call('wallet/getnowblock', {});
        return session.host;
      }, signal);
    return { clock, pool, head };
  };

  for (const [name, answer] of WISHES) {
    it(`is a minute at most and never nothing, where it is ${name}`, async () => {
      const { clock, head } = scene([first.url]);
      first.fault = undefined;
      await head();
      first.fault = () => answer;
      await head().catch(() => undefined);
      const failedMs = clock.now();
      await head().catch(() => undefined);
      expect(clock.now() - failedMs, 'left alone').to.be.at.least(500);
      first.fault = undefined;
      await clock.pause(60_000);
      expect(await head()).to.equal(first.host);
    });

    it(`concerns nobody else, where it is ${name}`, async () => {
      const { clock, pool, head } = scene([first.url, second.url]);
      first.fault = () => answer;
      for (let asked = 0; asked < 20; asked++) {
        const beganMs = clock.now();
        expect(await head()).to.equal(second.host);
        expect(clock.now() - beganMs, 'waited').to.be.below(100);
        await clock.pause(3_000);
      }
      expect(pool.status()[1]?.problem).to.equal(null);
    });
  }
});
