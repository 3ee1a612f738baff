import { expect } from 'chai';
import { pauseAtAge } from '../../../src/services/webhooks/turns.ts';

describe('the wait for the webhook before', () => {
  it('costs few tasks, however long a receiver takes nothing, and ends soon after it', () => {
    let looks = 0;
    for (let age = 0; age < 5 * 60_000; age += pauseAtAge(age)) looks += 1;
    expect(looks).to.be.lessThan(80);
    // What is looked at per second behind a thousand deposits that wait for a minute.
    expect((1_000 * 1_000) / pauseAtAge(60_000)).to.be.lessThan(150);
    for (const age of [1, 1_000, 10_000, 60_000])
      expect(pauseAtAge(age), `${age}`).to.be.at.most(Math.max(50, age / 8));
    expect(pauseAtAge(-5_000), 'of a clock that is ahead').to.equal(50);
  });
});
