import { expect } from 'chai';
import { createRate } from '../../src/chains/rpc/rate.ts';

/**
 * Sends as fast as the bucket lets it for some seconds of a made-up
 * clock; `limit` is what the endpoint accepts in each second.
 */
function simulate(seconds: number, options: { perSecond: number; burst: number; limit: number }) {
  let nowMs = 0;
  const rate = createRate({ ...options, now: () => nowMs });
  let [accepted, refused, second, count] = [0, 0, 0, 0];
  while (nowMs < seconds * 1_000) {
    nowMs += rate.takeMs() + 0.01;
    count = Math.floor(nowMs / 1_000) === second ? count + 1 : 1;
    second = Math.floor(nowMs / 1_000);
    if (count <= options.limit) {
      accepted++;
      rate.answered();
    } else {
      refused++;
      rate.refused();
      // The pool leaves a refusing endpoint alone for about this long.
      nowMs += 750;
    }
  }
  return { accepted, refused };
}

describe('how fast an endpoint is asked', () => {
  for (const [name, seconds, options, [least, most], refusals] of [
    ['never exceeds its rate for long', 10, { perSecond: 30, burst: 10, limit: 1_000 }, [295, 311], 0],
    [
      'uses nearly all of a limit that it was never told',
      600,
      { perSecond: 200, burst: 50, limit: 33 },
      [16_830, 19_800],
      90,
    ],
  ] as const)
    it(name, () => {
      const { accepted, refused } = simulate(seconds, options);
      expect(accepted).to.be.within(least, most);
      expect(refused).to.be.at.most(refusals);
    });
});
