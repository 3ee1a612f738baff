import { expect } from 'chai';
import { watchHead } from '../../../../activities/chain.ts';
import { eventually } from '../../../../dev/support/eventually.ts';
import { firstBlockSince } from '../../../../src/chains/first-block.ts';
import { createHeadHints } from '../../../../src/chains/rpc/head-hints.ts';
import type { WatchedChain } from '../../../../src/services/watcher/watched-chain.ts';
import {
  NO_TRACES,
  startTestWatcher,
  type TestWatcher,
  without,
} from '../../../services/watcher/test-watcher.ts';
import { startHeadServer } from '../../../support/http/head-server.ts';

const INTERVAL_MS = 450;
const WARM_BLOCKS = 20;
const COUNTED_BLOCKS = 30;

/**
 * What following the head costs on somebody's bill, at a real node that mines at the interval of the chain.
 */
describe('the calls for a block at the head', function () {
  this.timeout(90_000);
  // A machine that is busy with something else mines and asks by another clock.
  this.retries(3);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher({ fault: without(...NO_TRACES) });
    await live.newAddress();
    await live.finish();
  });
  after(() => live?.stop());

  /**
   * Follows the head for some blocks; returns the questions for
   * one block, about the head, about what is final, and all.
   */
  async function count(followed: WatchedChain): Promise<{ latest: number; finalized: number; all: number }> {
    const stop = new AbortController();
    const chainDeps = { ...live.deps, chains: new Map(), stopping: stop.signal, firstBlockSince };
    const following = watchHead(chainDeps, followed, stop.signal, () => undefined).catch(() => undefined);
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
      const about = (tag: string) =>
        calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[0] === tag).length;
      return {
        latest: about('latest') / blocks,
        finalized: about('finalized') / blocks,
        all: calls.length / blocks,
      };
    } finally {
      clearInterval(mining);
      stop.abort(new Error('the test is over'));
      await following;
    }
  }

  const announcedAt = (url: string, lines: string[]): WatchedChain => {
    const hint = createHeadHints({
      name: 'bsc',
      urls: [url],
      chainId: 56,
      report: (line) => lines.push(line),
    });
    return { ...live.watchedChain, reader: { ...live.reader, hint } };
  };

  it('are at most six, two of them about the head, where no trace is offered', async () => {
    const calls = await count(live.watchedChain);
    expect(calls.latest, 'questions for the head').to.be.at.most(2);
    expect(calls.finalized, 'questions for what is final').to.be.at.most(0.7);
    // A block whose reads began before the count may end in it.
    expect(calls.all, 'all together').to.be.at.most(6 + 2 / COUNTED_BLOCKS);
  });

  it('are about one for the head where the node announces its blocks', async () => {
    const lines: string[] = [];
    const calls = await count(announcedAt(live.chain.url.replace('http', 'ws'), lines));
    expect(calls.latest, 'questions for the head').to.be.at.most(1.35);
    expect(calls.all, 'all together').to.be.at.most(5.8);
    expect(lines).to.deep.equal([]);
  });

  it('are no more than two about the head where somebody announces the next block fifty times a second, and every block is read', async () => {
    const server = await startHeadServer();
    const lines: string[] = [];
    let height = await live.chain.mine();
    const lying = setInterval(() => {
      height = Math.max(height, live.seen.heights);
      server.announce(height + 1);
    }, 20);
    try {
      const calls = await count(announcedAt(server.url, lines));
      expect(calls.latest, 'questions for the head').to.be.at.most(2);
      expect(server.seen.connections, 'it was listened to').to.be.at.least(1);
      expect(lines.length).to.be.at.most(1);
      const node = await live.chain.mine();
      await live.catchUp();
      expect(live.seen.heights).to.equal(node);
    } finally {
      clearInterval(lying);
      await server.stop();
    }
  });
});
