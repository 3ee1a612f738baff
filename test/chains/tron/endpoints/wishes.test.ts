import { expect } from 'chai';
import { type Answer, madeUpClock, poolOf, type TestNode, testNodes } from './node.ts';

const { signal } = new AbortController();
const suspended = (time: string): Answer => ({
  status: 403,
  json: { Error: `the key is suspended for ${time}` },
});
const retryAfter = (text: string): Answer => ({ status: 429, headers: { 'retry-after': text }, text: '' });

/** Pauses that no endpoint can mean. */
const WISHES: Readonly<Record<string, Answer>> = {
  'a ban of thirty years': suspended('1000000000 s'),
  'a ban of more digits than a number has': suspended(`${'9'.repeat(400)} s`),
  'a ban of no number': suspended('NaN s'),
  'a pause of a day': retryAfter('86400'),
  'a pause until the year 9999': retryAfter('Fri, 31 Dec 9999 23:59:59 GMT'),
  'a pause until the past': retryAfter('Thu, 01 Jan 1970 00:00:00 GMT'),
  'a pause that is a sentence': retryAfter('when pigs fly'),
};

describe('the pause that an endpoint of Tron asks for', () => {
  const nodes = testNodes(1);
  for (const [name, answer] of Object.entries(WISHES))
    it(`is a minute at most and never nothing, where it is ${name}`, async () => {
      const [first] = nodes as [TestNode];
      const clock = madeUpClock();
      const pool = poolOf(nodes, clock);
      const head = () =>
        pool.run(async (session) => {
          await session.call('wallet/getnowblock', {});
          return session.host;
        }, signal);
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
});
