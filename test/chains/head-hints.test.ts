import { startAnvil } from '../../dev/anvil.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { pause } from '../../src/base/async/pause.ts';
import { createHeadHints } from '../../src/chains/rpc/head-hints.ts';
import { type HeadServer, startHeadServer } from '../support/http/head-server.ts';

describe('announcements of new blocks', function () {
  this.timeout(30_000);
  let server: HeadServer;
  let stop: AbortController;
  let heard: { numbers: number[]; lines: string[]; pauses: number[]; lost: number };

  beforeEach(async () => {
    server = await startHeadServer();
    stop = new AbortController();
    heard = { numbers: [], lines: [], pauses: [], lost: 0 };
  });
  afterEach(async () => {
    stop.abort(new Error('the test is over'));
    await eventually('every socket is closed', () => server.seen.open === 0);
    await server.stop();
  });

  /** Listens, with pauses that are noted and not waited for. */
  function listen(urls: readonly string[]): void {
    const hint = createHeadHints({
      name: 'bsc',
      urls,
      chainId: 56,
      report: (line) => heard.lines.push(line),
      random: () => 1,
      pause: async (ms, signal) => {
        heard.pauses.push(ms);
        await pause(5, signal);
      },
    });
    const announced = (number: number): void => void heard.numbers.push(number);
    const lost = (): void => {
      heard.lost += 1;
    };
    hint({ announced, lost }, stop.signal);
  }

  it('come from a real node, and stop with the signal', async () => {
    const anvil = await startAnvil({ chainId: 56, log: () => undefined });
    try {
      listen([anvil.url.replace('http', 'ws')]);
      await eventually('a block is announced', async () => {
        await anvil.mine();
        return heard.numbers.length >= 3;
      });
      const height = Number.parseInt((await anvil.rpc('eth_blockNumber')) as string, 16);
      await eventually('the newest one too', () => heard.numbers.at(-1) === height);
      stop.abort(new Error('enough'));
      await eventually('it is told that nothing comes any more', () => heard.lost === 1);
    } finally {
      await anvil.stop();
    }
  });
});
