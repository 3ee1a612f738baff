import { expect } from 'chai';
import { followHead } from '../../activities/chain.ts';
import { firstBlockSince } from '../../src/chain/first-block.ts';
import { eventually } from '../support/eventually.ts';
import { type Following, NO_TRACES, startFollowing, without } from './following.ts';

const INTERVAL_MS = 450;
const WARM_BLOCKS = 20;
const COUNTED_BLOCKS = 30;

/** What following the head costs on somebody's bill, at a real node that mines at the interval of the chain. */
describe('the calls for a block at the head', function () {
  this.timeout(90_000);
  // A machine that is busy with something else mines and asks by another clock.
  this.retries(3);
  let live: Following;

  before(async () => {
    live = await startFollowing({ fault: without(...NO_TRACES) });
    await live.newAddress();
    await live.finish();
  });
  after(() => live?.stop());

  it('are at most six, two of them about the head, where no trace is offered', async () => {
    const stop = new AbortController();
    const chainDeps = { ...live.deps, chains: new Map(), stopping: stop.signal, firstBlockSince };
    const following = followHead(chainDeps, live.followed, stop.signal, () => undefined).catch(() => undefined);
    const [from = '', to = ''] = live.chain.accounts;
    let mined = 0;
    const mining = setInterval(() => {
      mined += 1;
      void live.chain.send({ from, to, valueUnits: 1n }).then(() => live.chain.mine());
    }, INTERVAL_MS);
    try {
      await eventually('a warm pace', async () => mined >= WARM_BLOCKS, 30_000);
      live.proxy.calls.length = 0;
      const before = mined;
      await eventually('enough blocks', async () => mined >= before + COUNTED_BLOCKS, 30_000);
      const calls = [...live.proxy.calls];
      const blocks = mined - before;
      const about = (tag: string) => calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === tag).length;
      expect(about('latest') / blocks, 'questions for the head').to.be.at.most(2);
      expect(about('finalized') / blocks, 'questions for what is final').to.be.at.most(0.7);
      expect(calls.length / blocks, 'all together').to.be.at.most(6);
    } finally {
      clearInterval(mining);
      stop.abort(new Error('the test is over'));
      await following;
    }
  });
});
