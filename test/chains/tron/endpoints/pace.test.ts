import { expect } from 'chai';
import { searchBlocksOf } from '../../../../src/chains/tron/pace.ts';

describe('how many blocks of Tron a search may read', () => {
  it('is an hour within a free key, more with what is allowed beyond it, and two days at most', () => {
    const of = [1, 60_000, 100_000, 104_800, 200_000, 340_000, 1_000_000_000].map(searchBlocksOf);
    expect(of).to.deep.equal([1_200, 1_200, 1_200, 1_200, 25_000, 60_000, 60_000]);
  });
});
