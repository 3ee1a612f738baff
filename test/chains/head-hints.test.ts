import { expect } from 'chai';
import { startAnvil } from '../../dev/anvil.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { pause } from '../../src/base/async/pause.ts';
import { createHeadHints, type HeadHintsOptions, probeHeadHints } from '../../src/chains/rpc/head-hints.ts';
import { frame, type HeadServer, type Peer, startHeadServer } from '../support/http/head-server.ts';

const TEXT = 0x81;
const START = 0x01;
const CONTINUED = 0x00;

/** What the other side may do that ends it. */
const MISBEHAVIOUR: Readonly<Record<string, (peer: Peer) => void>> = {
  floods: (peer) => {
    for (let number = 0; number < 1_000; number++) peer.head(number);
  },
  'sends a huge message': (peer) => peer.text(`{"x":"${'y'.repeat(200_000)}"}`),
  'promises one of a gigabyte': ({ socket }) =>
    socket.write(Buffer.from([TEXT, 127, 0, 0, 0, 0, 0x40, 0, 0, 0])),
  'sends a message in endless pieces': ({ socket }) => {
    socket.write(frame(Buffer.from('x'), START));
    for (let piece = 0; piece < 200; piece++) socket.write(frame(Buffer.from('x'), CONTINUED));
  },
  'breaks the protocol': ({ socket }) => socket.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')),
  closes: ({ socket }) => socket.write(frame(Buffer.from([0x03, 0xe9]), 0x88)),
  resets: ({ socket }) => socket.resetAndDestroy(),
};

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
  function listen(urls: readonly string[], options: Partial<HeadHintsOptions> = {}): void {
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
      ...options,
    });
    const announced = (number: number): void => void heard.numbers.push(number);
    const lost = (): void => {
      heard.lost += 1;
    };
    hint({ announced, lost }, stop.signal);
  }
  const subscribed = async (): Promise<Peer> =>
    await eventually('a subscription', () => [...server.peers].findLast(({ socket }) => socket.writable));
  const said = (words: string) => eventually(words, () => heard.lines.some((line) => line.includes(words)));

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

  it('are taken of our own subscription only, and where they hold a height', async () => {
    listen([server.url]);
    const peer = await subscribed();
    peer.head(5, '0xanother');
    const params = { subscription: '0x9c' };
    for (const text of ['', 'garbage', '[]', 'null', '{"method":"eth_subscription"}']) peer.text(text);
    peer.send({ method: 'eth_subscription', params });
    for (const number of ['0x', '7', 7, null, `0x${'f'.repeat(40)}`, '-0x1'])
      peer.send({ method: 'eth_subscription', params: { ...params, result: { number } } });
    peer.socket.write(frame(Buffer.from([0xff, 0xfe]), 0x82));
    peer.head(8);
    await eventually('the right one', () => heard.numbers.length > 0);
    expect(heard.numbers).to.deep.equal([8]);
    expect(server.questions.map(({ method }) => method)).to.deep.equal(['eth_chainId', 'eth_subscribe']);
  });

  for (const [what, misbehave] of Object.entries(MISBEHAVIOUR))
    it(`end where the other side ${what}, with one line in the log, and are looked for again`, async () => {
      listen([server.url]);
      misbehave(await subscribed());
      await eventually('it is tried again', () => server.seen.connections >= 2);
      (await subscribed()).head(77);
      await eventually('announcements are back', () => heard.numbers.includes(77));
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

  it('come from the next address where one is of another chain, refuses, or is away', async () => {
    const [wrong, refusing, away] = await Promise.all([
      startHeadServer(),
      startHeadServer(),
      startHeadServer(),
    ]);
    wrong.answer = ({ id }, peer) => {
      peer.send({ id, result: '0x1' });
      return true;
    };
    refusing.accepts = false;
    try {
      await away.stop();
      const probed = await probeHeadHints(
        { urls: [server.url, wrong.url, refusing.url, away.url], chainId: 56 },
        stop.signal,
      );
      expect(probed.map(({ problem }) => problem)).to.deep.equal([
        undefined,
        'chain id 1 instead of 56',
        'no WebSocket at this address',
        'connection failed (ECONNREFUSED)',
      ]);
      expect(JSON.stringify(probed)).not.to.include('secret');
      listen([wrong.url, refusing.url, away.url, server.url]);
      await said('chain id 1 instead of 56');
      (await subscribed()).head(3);
      await eventually('it is heard', () => heard.numbers.length === 1);
    } finally {
      await Promise.all([wrong.stop(), refusing.stop()]);
    }
  });

  it('are given up where the other side is silent at a question', async () => {
    server.answer = ({ method }) => method === 'eth_chainId';
    listen([server.url], { limits: { openMs: 1_000 } });
    await said('no subscription within 1 s');
  });

  it('are given up where no block comes after the subscription: garbage is no sign of life', async () => {
    listen([server.url], { limits: { silentMs: 1_000 } });
    const peer = await subscribed();
    const garbage = setInterval(() => peer.text('{"id":9}'), 50);
    await said('no block announced for 1 s').finally(() => clearInterval(garbage));
  });
});
