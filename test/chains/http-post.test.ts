import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { createHttpPost } from '../../src/chains/rpc/http-post.ts';

/** What to answer is asked for in the question: its characters, how many, in how many pieces, and how. */
type Wanted = {
  readonly text: string;
  readonly times: number;
  readonly pieces: number;
  readonly way: 'plain' | 'chunked' | 'gzip' | 'cut';
};

const bodyOf = ({ text, times }: Wanted): Buffer => Buffer.from(text.repeat(times), 'utf8');

const answer: RequestListener = async (request, response) => {
  const wanted = JSON.parse(Buffer.concat(await request.toArray()).toString('utf8')) as Wanted;
  const body = wanted.way === 'gzip' ? gzipSync(bodyOf(wanted)) : bodyOf(wanted);
  response.setHeader('x-times', String(wanted.times));
  if (wanted.way === 'gzip') response.setHeader('content-encoding', 'gzip');
  if (wanted.way !== 'chunked') response.setHeader('content-length', body.byteLength);
  const size = Math.ceil(body.byteLength / wanted.pieces) || 1;
  for (let at = 0; at < body.byteLength; at += size) {
    const isLast = at + size >= body.byteLength;
    response.write(body.subarray(at, wanted.way === 'cut' && isLast ? body.byteLength - 1 : at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (wanted.way === 'cut' && body.byteLength > 0) response.destroy();
  else response.end();
};

describe('the answers of endpoints', () => {
  let server: Server;
  let url: string;
  before(async () => {
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const wanted = fc.record({
    text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
    times: fc.integer({ min: 0, max: 20_000 }),
    pieces: fc.integer({ min: 1, max: 5 }),
    way: fc.constantFrom('plain', 'chunked', 'gzip', 'cut'),
  }) satisfies fc.Arbitrary<Wanted>;

  it('are read to the letter, many at a time and one after another, whatever was cut short or given up between them', async () => {
    const post = createHttpPost();
    const ask = async (question: Wanted & { givenUp: boolean }): Promise<void> => {
      const abort = new AbortController();
      const pending = post(
        { url, headers: {}, body: JSON.stringify(question), maxBytes: 1_048_576 },
        abort.signal,
      );
      if (question.givenUp) setTimeout(() => abort.abort(), question.times / 5_000);
      try {
        const { status, headers, text } = await pending;
        expect([status, headers['x-times']]).to.deep.equal([200, String(question.times)]);
        expect(
          text === question.text.repeat(question.times),
          `${question.way}, ${text.length} characters`,
        ).to.equal(true);
        expect(
          question.way === 'cut' && question.times > 0,
          'an answer that was cut short was taken',
        ).to.equal(false);
      } catch (error) {
        if (!(question.givenUp || question.way === 'cut')) throw error;
        if ((error as Error).name === 'AssertionError') throw error;
      }
    };
    const questions = fc.array(fc.tuple(wanted, fc.boolean()), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(questions, async (asked) => {
        await Promise.all(asked.map(([question, givenUp]) => ask({ ...question, givenUp })));
      }),
      { numRuns: 150 },
    );
  }).timeout(60_000);

  it('are given up while they wait for a connection, too', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const post = createHttpPost();
    const abort = new AbortController();
    const question = {
      url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      headers: {},
      body: '{}',
      maxBytes: 1_000,
    };
    const many = Array.from({ length: 100 }, () =>
      post(question, abort.signal).catch((error: Error) => error),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    abort.abort();
    for (const ended of await Promise.all(many)) expect(ended).to.be.instanceOf(Error);
    silent.closeAllConnections();
    silent.close();
  });
});
