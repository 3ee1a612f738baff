import { expect } from 'chai';
import { startAnvil } from '../../dev/anvil.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { pause } from '../../src/base/async/pause.ts';
import { createHeadHints } from '../../src/chains/rpc/head-hints.ts';
import { type HeadServer, type Peer, startHeadServer } from '../support/http/head-server.ts';

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
  const subscribed = async (): Promise<Peer> =>
    await eventually('a subscription', () => [...server.peers].findLast(({ socket }) => socket.writable));

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

  it('end where the other side floods, with one line in the log, and are looked for again', async () => {
    listen([server.url]);
    const flooding = await subscribed();
    for (let number = 0; number < 1_000; number++) flooding.head(number);
    await eventually('it is tried again', () => server.seen.connections >= 2);
    (await subscribed()).head(77);
    await eventually('announcements are back', () => heard.numbers.at(-1) === 77);
    expect(heard.lost).to.equal(1);
    expect(heard.numbers.length).to.be.at.most(101);
    expect(heard.lines).to.have.lengthOf(1);
    expect(heard.lines[0]).to.match(
      /^bsc: 127\.0\.0\.1:\d+ announces no blocks: .+; the head is asked for by the clock meanwhile$/,
    );
  });

  it('are looked for again less and less often, in one line of the log, without the key of the address', async () => {
    server.answer = ({ id, method }, peer) => {
      const message = `no subscriptions at ${server.url} for secret-api-key`;
      if (method === 'eth_subscribe') peer.send({ id, error: { code: -32601, message } });
      return method === 'eth_subscribe';
    };
    listen([server.url]);
    await eventually('eight tries', () => heard.pauses.length >= 8);
    expect(heard.pauses.slice(0, 8).map((ms) => ms / 1_000)).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(heard.lines).to.have.lengthOf(1);
    expect(heard.lines[0])
      .to.match(/eth_subscribe is refused: no subscriptions at \*\*\* for \*\*\*/)
      .and.not.include('secret');
  });
});
