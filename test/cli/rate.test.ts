import { expect } from 'chai';
import { paceText } from '../../src/cli/rate.ts';

describe('how fast something long goes', () => {
  it('is said once there is a pace, also of less than one a second', () => {
    const units = 'addresses';
    expect(paceText({ done: 0, total: 3, ms: 2_000, units })).to.equal('');
    expect(paceText({ done: 1, total: 3, ms: 8_000, units })).to.equal(', 0.13 addresses/s, 16 s left');
    expect(paceText({ done: 900, total: 1_800, ms: 2_000, units })).to.equal(', 450 addresses/s, 2 s left');
  });
});
