import { expect } from 'chai';
import { createApp } from '../../../src/api/app.ts';
import { createServer } from '../../../src/api/server.ts';
import { call, startTestApi, type TestApi, troublesOf } from '../../support/gateway.ts';
import { exchange, parseAnswers, talk } from '../../support/http/raw-http.ts';

const MIB = 1024 * 1024;

describe('bodies', function () {
  this.timeout(60_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(async () => {
    expect(troublesOf(api)).to.deep.equal([]);
    await api.stop();
  });

  const post = (headers: string, rest: string) =>
    `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nx-api-key: ${api.keys.test}\r\nContent-Type: application/json\r\n${headers}\r\n${rest}`;

  it('of exactly 1 MiB are taken, by length and in chunks', async () => {
    const large = (size: number) => `{"external_id":"","x":"${'x'.repeat(size - 25)}"}`;
    const chunked = (size: number) =>
      `${(size - 10).toString(16)}\r\n${large(size).slice(0, -10)}\r\na\r\n${large(size).slice(-10)}\r\n0\r\n\r\n`;
    expect(large(MIB)).to.have.length(MIB);
    const status = async (bytes: string) => (await exchange(api.origin, bytes))[0]?.status;
    expect(await status(post(`Content-Length: ${MIB}\r\nConnection: close\r\n`, large(MIB)))).to.equal(400);
    expect(
      await status(post(`Content-Length: ${MIB + 1}\r\nConnection: close\r\n`, large(MIB + 1))),
    ).to.equal(413);
    expect(await status(post('Transfer-Encoding: chunked\r\nConnection: close\r\n', chunked(MIB)))).to.equal(
      400,
    );
    expect(
      await status(post('Transfer-Encoding: chunked\r\nConnection: close\r\n', chunked(MIB + 1))),
    ).to.equal(413);
  });

  it('that come too slowly end in 408, while others are served', async () => {
    const server = createServer(createApp({ deps: api.deps, checkResponses: true }), {
      headersTimeout: 700,
      requestTimeout: 1_200,
      connectionsCheckingInterval: 100,
    });
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    const origin = `http://127.0.0.1:${port}`;
    const drip = (chunk: string) => ({
      drip: { chunks: Array.from({ length: 200 }, () => chunk), everyMs: 50 },
      limitMs: 10_000,
    });
    const slow = [
      talk(origin, 'GET /api/v1/deposits HTTP/1.1\r\nHost: x\r\n', drip('X-A: b\r\n')),
      talk(origin, 'GET /api/v1/dep', drip('o')),
      talk(origin, post('Content-Length: 1000\r\n', '{'), drip(' ')),
      talk(origin, post('Transfer-Encoding: chunked\r\n', ''), drip('1\r\n \r\n')),
      talk(origin, post('Content-Length: 1000\r\n', '{'), { limitMs: 10_000 }),
    ];
    for (let index = 0; index < 10; index += 1) {
      expect((await call(`${origin}/api/v1/deposits`, { key: api.keys.test })).status).to.equal(200);
    }
    for (const { received, ms, closed } of await Promise.all(slow)) {
      const [answer, ...others] = parseAnswers(received);
      expect([answer?.status, answer?.body['code'], answer?.headers['connection']]).to.deep.equal([
        408,
        'VALIDATION_ERROR',
        'close',
      ]);
      expect([others, closed]).to.deep.equal([[], true]);
      expect(ms).to.be.within(500, 8_000);
    }
    await server.close(1_000);
  });

  it('that are large and do not come to their end keep only a few of one merchant in memory, and nobody else from theirs', async () => {
    const half = (length: number) =>
      talk(api.origin, post(`Content-Length: ${length}\r\n`, ' '.repeat(length - 1)), { limitMs: 3_500 });
    const held = Array.from({ length: 40 }, () => half(MIB));
    const small = half(1_000);
    const other = await api.newMerchant();
    const whole = { external_id: 'whole', name: 'n', unknown: 'x'.repeat(100_000) };
    const answer = await call(`${api.url}/customers`, { key: other.keys.test, body: whole });
    expect(answer.status, answer.text).to.equal(201);
    const ofLive = await call(`${api.url}/customers`, {
      key: api.keys.live,
      body: { ...whole, external_id: 'live' },
    });
    expect(ofLive.status, 'of the same merchant in live mode').to.equal(201);
    const answers = (await Promise.all(held)).flatMap(({ received }) => parseAnswers(received));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body['code']}`))).to.deep.equal(
      new Set(['429 RATE_LIMITED']),
    );
    expect(answers).to.have.length(36);
    expect((await small).received).to.have.length(0);
    const again = { ...whole, external_id: 'again' };
    expect((await call(`${api.url}/customers`, { key: api.keys.test, body: again })).status).to.equal(201);
  });
});
