import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { startAnvil } from '../../dev/anvil.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { createHeadHints, type HeadHintsOptions, probeHeadHints } from '../../src/chains/rpc/head-hints.ts';
import { frame, type HeadServer, type Peer, startHeadServer } from '../support/http/head-server.ts';

const TEXT = 0x81;
const START = 0x01;
const CONTINUED = 0x00;
const PING = 0x89;

type Heard = { readonly numbers: number[]; readonly lines: string[]; lost: number };

describe('announcements of new blocks', function () {
  this.timeout(30_000);
  let server: HeadServer;
  let stop: AbortController;
  let heard: Heard;

  beforeEach(async () => {
    server = await startHeadServer();
    stop = new AbortController();
    heard = { numbers: [], lines: [], lost: 0 };
  });
  afterEach(async () => {
    stop.abort(new Error('the test is over'));
    await eventually('every socket is closed', () => server.seen.open === 0);
    await server.stop();
  });

  /** Listens with pauses of a quarter of a second at most, so that a test sees many of them. */
  function listen(urls: readonly string[], options: Partial<HeadHintsOptions> = {}): void {
    const hint = createHeadHints({
      name: 'bsc',
      urls,
      chainId: 56,
      report: (line) => heard.lines.push(line),
      random: () => 0,
      ...options,
    });
    hint(
      {
        announced: (number) => heard.numbers.push(number),
        lost: () => {
          heard.lost += 1;
        },
      },
      stop.signal,
    );
  }
  const subscribed = async (): Promise<Peer> =>
    await eventually('a subscription', () => [...server.peers].at(-1));

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
    for (const text of [
      '',
      'garbage',
      '[]',
      'null',
      '{"method":"eth_subscription"}',
      '{"method":"eth_subscription","params":{"subscription":"0x9c"}}',
    ])
      peer.text(text);
    for (const number of ['0x', '7', 7, null, `0x${'f'.repeat(40)}`, '-0x1'])
      peer.send({ method: 'eth_subscription', params: { subscription: '0x9c', result: { number } } });
    peer.socket.write(frame(Buffer.from([0xff, 0xfe]), 0x82));
    peer.head(8);
    await eventually('the right one', () => heard.numbers.length > 0);
    expect(heard.numbers).to.deep.equal([8]);
    expect(server.questions.map(({ method }) => method)).to.deep.equal(['eth_chainId', 'eth_subscribe']);
  });

  const cut: readonly [string, (peer: Peer) => void][] = [
    ['floods', (peer) => Array.from({ length: 1_000 }, (_, number) => peer.head(number))],
    ['sends a huge message', (peer) => peer.text(`{"x":"${'y'.repeat(200_000)}"}`)],
    [
      'promises one of a gigabyte',
      (peer) => peer.socket.write(Buffer.from([TEXT, 127, 0, 0, 0, 0, 0x40, 0, 0, 0])),
    ],
    [
      'sends a message in endless pieces',
      (peer) => {
        peer.socket.write(frame(Buffer.from('x'), START));
        for (let piece = 0; piece < 200; piece++) peer.socket.write(frame(Buffer.from('x'), CONTINUED));
      },
    ],
    ['sends text that is none', (peer) => peer.socket.write(frame(Buffer.from([0xc3, 0x28])))],
    ['breaks the protocol', (peer) => peer.socket.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))],
    ['says that it compresses, and does not', (peer) => peer.socket.write(frame(Buffer.from('zzz'), 0xc1))],
    ['closes', (peer) => peer.socket.write(frame(Buffer.from([0x03, 0xe9]), 0x88))],
    ['closes in no good form', (peer) => peer.socket.write(frame(Buffer.from([0x03]), 0x88))],
    ['resets', (peer) => peer.socket.resetAndDestroy()],
  ];
  for (const [what, misbehave] of cut) {
    it(`end where the other side ${what}, with one line in the log, and are looked for again`, async () => {
      listen([server.url]);
      misbehave(await subscribed());
      await eventually('it is tried again', () => server.seen.connections >= 2);
      (
        await eventually('another subscription', () => [...server.peers].find((peer) => peer.socket.writable))
      ).head(77);
      await eventually('announcements are back', () => heard.numbers.includes(77));
      expect(heard.lost).to.equal(1);
      expect(heard.numbers.length).to.be.at.most(101);
      expect(heard.lines).to.have.lengthOf(1);
      expect(heard.lines[0]).to.match(
        /^bsc: 127\.0\.0\.1:\d+ announces no blocks: .+; the head is asked for by the clock meanwhile$/,
      );
    });
  }

  it('end where more than a megabyte a second comes, of whatever', async () => {
    listen([server.url]);
    const { socket } = await subscribed();
    const pings = Buffer.concat(Array.from({ length: 1_000 }, () => frame(Buffer.alloc(125), PING)));
    const flooding = setInterval(() => socket.writable && socket.write(pings), 10);
    try {
      await eventually('it is cut', () => heard.lines.length === 1);
      expect(heard.lines[0]).to.include('more than 1 MiB a second');
    } finally {
      clearInterval(flooding);
    }
  });

  it('are looked for again less and less often, in one line of the log, without the key of the address', async () => {
    const pauses: number[] = [];
    let lastMs = performance.now();
    server.answer = ({ id, method }, peer) => {
      if (method !== 'eth_subscribe') return false;
      pauses.push(performance.now() - lastMs);
      lastMs = performance.now();
      peer.send({
        id,
        error: { code: -32601, message: `no subscriptions at ${server.url} for secret-api-key` },
      });
      return true;
    };
    listen([server.url]);
    await eventually('four tries', () => pauses.length >= 4);
    expect(pauses[2]).to.be.at.least(990);
    expect(pauses[3]).to.be.at.least(1_990);
    expect(heard.lines).to.have.lengthOf(1);
    expect(heard.lines[0]).to.match(/eth_subscribe is refused: no subscriptions at \*\*\* for \*\*\*/);
    expect(JSON.stringify(heard.lines)).not.to.include('secret');
  });

  it('come from the next address where one is of another chain, refuses, or is away', async () => {
    const wrong = await startHeadServer();
    wrong.answer = ({ id }, peer) => {
      peer.send({ id, result: '0x1' });
      return true;
    };
    const [refusing, away] = await Promise.all([startHeadServer(), startHeadServer()]);
    refusing.accepts = false;
    try {
      await away.stop();
      listen([wrong.url, refusing.url, away.url, server.url]);
      (await subscribed()).head(3);
      await eventually('it is heard', () => heard.numbers.length === 1);
      expect(heard.lines.join()).to.include('chain id 1 instead of 56');
    } finally {
      await Promise.all([wrong.stop(), refusing.stop()]);
    }
  });

  it('are given up where the other side is silent: at the handshake, at a question, or after the subscription', async () => {
    const mute = createServer((socket: Socket) => socket.on('error', () => undefined));
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const { port } = mute.address() as { port: number };
    const limits = { openMs: 300, silentMs: 300 };
    try {
      listen([`ws://127.0.0.1:${port}`], { limits });
      await eventually('the first is given up', () => heard.lost === 1);
      stop.abort(new Error('next'));
      stop = new AbortController();
      server.answer = ({ method }) => method === 'eth_chainId';
      listen([server.url], { limits });
      await eventually('the second is given up', () =>
        heard.lines.some((line) => line.includes('no subscription within 0.3 s')),
      );
      stop.abort(new Error('next'));
      stop = new AbortController();
      server.answer = undefined;
      listen([server.url], { limits });
      const peer = await subscribed();
      // Garbage is no sign of life.
      const garbage = setInterval(() => peer.text('{"id":9}'), 50);
      try {
        await eventually('the third is given up', () =>
          heard.lines.some((line) => line.includes('no block announced for 0.3 s')),
        );
      } finally {
        clearInterval(garbage);
      }
    } finally {
      mute.close();
    }
  });

  it('leave no socket open where the other side does not answer the close', async () => {
    listen([server.url]);
    const { socket } = await subscribed();
    socket.removeAllListeners('data').resume();
    const ended = once(socket, 'end');
    stop.abort(new Error('enough'));
    await ended;
  });

  it('are diagnosed by address: whether it connects, is of the chain and subscribes', async () => {
    const [refusing, away] = await Promise.all([startHeadServer(), startHeadServer()]);
    refusing.accepts = false;
    await away.stop();
    try {
      const answers = await probeHeadHints(
        { urls: [server.url, refusing.url, away.url], chainId: 56 },
        stop.signal,
      );
      expect(answers.map(({ problem }) => problem)).to.deep.equal([
        undefined,
        'no WebSocket at this address',
        'connection failed (ECONNREFUSED)',
      ]);
      const [other] = await probeHeadHints({ urls: [server.url], chainId: 97 }, stop.signal);
      expect(other?.problem).to.equal('chain id 56 instead of 97');
      expect(JSON.stringify([answers, other])).not.to.include('secret');
    } finally {
      await refusing.stop();
    }
  });
});
