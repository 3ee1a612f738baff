import { expect } from 'chai';
import { type Standstill, standstills } from '../../src/services/chain/standstill.ts';
import { type Following, startFollowing } from './following.ts';

const MINUTE_MS = 60_000;

/** A part of the following that stands still is seen from rows alone, whoever is gone. */
describe('a chain that stands still', function () {
  this.timeout(60_000);
  let live: Following;
  let laterMs = 0;

  before(async () => {
    live = await startFollowing();
    await live.newAddress();
    await live.finish();
  });
  after(() => live?.stop());
  beforeEach(() => {
    laterMs = 0;
    live.proxy.fault = undefined;
  });
  const seen = (): Promise<Standstill[]> => standstills({ ...live.deps, now: () => new Date(Date.now() + laterMs) });

  it('is not one while it is followed, nor half a minute later than it should be', async () => {
    await live.finish();
    expect(await seen()).to.deep.equal([]);
    laterMs = 20_000;
    expect(await seen()).to.deep.equal([]);
  });

  it('is seen where nobody reads it and nobody noted anything', async () => {
    await live.finish();
    laterMs = MINUTE_MS;
    const [cursor] = await live.rows('select * from chain_cursors');
    const [first, ...more] = await seen();
    expect(more).to.deep.equal([]);
    expect(first).to.include({ network: 'bsc', part: 'first read', number: Number(cursor?.['scanned_number']), reason: null });
    expect(first?.sinceMs).to.be.within(MINUTE_MS - 5_000, MINUTE_MS + 5_000);
    expect(first?.action).to.match(/worker/);
  });
});
