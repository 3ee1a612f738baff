import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { createHttpPost } from '../../src/chains/rpc/http-post.ts';

/** What to answer is asked for in the question: its characters, how many, in how many pieces, and how. */
type Wanted = {
  readonly text: string;
  readonly times: number;
  readonly pieces: number;
  readonly way: 'plain' | 'chunked' | 'gzip' | 'cut';
};

const answer: RequestListener = async (request, response) => {
  const { text, times, pieces, way }: Wanted = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const plain = Buffer.from(text.repeat(times), 'utf8');
  const body = way === 'gzip' ? gzipSync(plain) : plain;
  response.setHeader('x-times', String(times));
  if (way === 'gzip') response.setHeader('content-encoding', 'gzip');
  if (way !== 'chunked') response.setHeader('content-length', body.byteLength);
  const size = Math.ceil(body.byteLength / pieces) || 1;
  for (let at = 0; at < body.byteLength; at += size) {
    const isLast = at + size >= body.byteLength;
    response.write(body.subarray(at, way === 'cut' && isLast ? body.byteLength - 1 : at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (way === 'cut' && body.byteLength > 0) response.destroy();
  else response.end();
};

describe('the answers of endpoints', () => {
  const servers: Server[] = [];
  const serve = async (listener: RequestListener): Promise<string> => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`;
  };
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('are read to the letter, many at a time and one after another, whatever was cut short or given up between them', async () => {
    const post = createHttpPost();
    const url = await serve(answer);
    const ask = async (asked: Wanted, nth: number): Promise<void> => {
      const { text, times, way } = asked;
      const givenUp = nth % 3 === 2;
      const abort = new AbortController();
      const body = JSON.stringify(asked);
      const pending = post({ url, headers: {}, body, maxBytes: 1_048_576 }, abort.signal);
      if (givenUp) setTimeout(() => abort.abort(), nth % 5);
      const got = await pending.catch((error: unknown) => error as Error);
      if (got instanceof Error) {
        if (!givenUp && way !== 'cut') throw got;
        return;
      }
      expect([got.status, got.headers['x-times']]).to.deep.equal([200, String(times)]);
      expect(got.text === text.repeat(times), `${way}, ${got.text.length} characters`).to.equal(true);
      expect(way === 'cut' && times > 0, 'an answer that was cut short was taken').to.equal(false);
    };
    for (const times of [0, 1, 700, 20_000]) {
      const ways = (['plain', 'chunked', 'gzip', 'cut'] as const).flatMap((way) =>
        ['a', 'ü€', '👩‍👩‍👧'].map((text, at) => ({ text, times, way, pieces: 1 + 2 * at })),
      );
      await Promise.all([...ways, ...ways].map(ask));
    }
  });
});
