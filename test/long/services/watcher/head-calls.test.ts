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
const FOLLOWED_BLOCKS = 50;

describe('a chain whose next block somebody announces fifty times a second', function () {
  this.timeout(90_000);
  let live: TestWatcher;
  before(async () => {
    live = await startTestWatcher({ fault: without(...NO_TRACES) });
  });
  after(() => live?.stop());

  it('is read block by block at the pace of its node, and the socket is listened to', async () => {
    await live.newAddress();
    await live.finish();
    const server = await startHeadServer();
    const lines: string[] = [];
    const report = (line: string): void => void lines.push(line);
    const hint = createHeadHints({ name: 'bsc', urls: [server.url], chainId: 56, report });
    const followed: WatchedChain = { ...live.watchedChain, reader: { ...live.reader, hint } };
    const stop = new AbortController();
    const chainDeps = { ...live.deps, chains: new Map(), stopping: stop.signal, firstBlockSince };
    const first = await live.chain.mine();
    const lying = setInterval(() => server.announce(Math.max(first, live.seen.heights) + 1), 20);
    const mining = setInterval(() => void live.chain.mine(), INTERVAL_MS);
    const following = watchHead(chainDeps, followed, stop.signal, () => undefined).catch(() => undefined);
    try {
      await eventually('the blocks', () => live.seen.heights >= first + FOLLOWED_BLOCKS, 80_000);
      expect(server.seen.connections).to.be.at.least(1);
      expect(lines.length).to.be.at.most(1);
      const read = await live.rows('select number from chain_blocks where number >= ?', [first]);
      expect(read.length).to.be.at.least(FOLLOWED_BLOCKS);
    } finally {
      clearInterval(mining);
      clearInterval(lying);
      stop.abort(new Error('the test is over'));
      await following;
      await server.stop();
    }
  });
});
