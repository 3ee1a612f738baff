import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { createClientAddress } from '../../../src/api/access/client-address.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { hostileTexts, leastMs } from '../../support/http/hostile-texts.ts';
import { exchange } from '../../support/http/raw-http.ts';

/** Of 16 KiB of headers there is room for this and the rest of a request. */
const LONGEST = 15_000;
/**
 * Generous beside what such a request takes, and far below
 * what 15,000 characters cost where the cost is quadratic.
 */
const LIMIT_MS = 300;
const PROXY = '127.0.0.1';

/** The names of the headers that anything reads while `work` runs. */
async function headersRead(work: () => Promise<void>): Promise<string[]> {
  const read = new Set<string>(['authorization', 'x-api-key']); // from the raw list
  const spy = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    const get = (headers: object, name: string | symbol) => {
      read.add(String(name));
      return Reflect.get(headers, name);
    };
    Object.defineProperty(request, 'headers', { value: new Proxy(request.headers, { get }) });
  };
  subscribe('http.server.request.start', spy);
  await work().finally(() => unsubscribe('http.server.request.start', spy));
  return [...read];
}

describe('targets and headers as long as they are let in', function () {
  this.timeout(180_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi({ trustedProxies: [PROXY] });
  });
  after(() => api.stop());

  const raw = async (target: string, headers = '') => {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n`;
    return (await exchange(api.origin, Buffer.from(bytes, 'latin1')))[0];
  };
  const line = (text: string) => text.replace(/[^!-~]/g, '_');

  it('that are no target get a 400 at once, and no line in the log', async () => {
    const bad = [
      `http://[::1${'a'.repeat(LONGEST)}/`,
      'https://[/',
      'http://a]/',
      'http://%zz/',
      'http:///x',
      'http://',
      'http://a:b@c:99999/',
      'http://xn--iñvalid/',
      'ftp://x/api/v1/deposits',
      'a:b',
      'javascript:alert(1)',
      `a${':'.repeat(LONGEST)}`,
      '?x=1',
      '**',
    ];
    for (const target of bad) {
      const before = api.lines.length;
      const ms = await leastMs(LIMIT_MS, async () => {
        const answer = await raw(target);
        expect(answer?.status, target.slice(0, 50)).to.equal(400);
        expect(answer?.headers['content-type']).to.contain('application/json');
      });
      expect(ms, target.slice(0, 50)).to.be.below(LIMIT_MS);
      expect(api.lines.slice(before), target.slice(0, 50)).to.deep.equal([]);
    }
  });

  it('in absolute form mean their path, whatever stands before it', async () => {
    const headers = `x-api-key: ${api.keys.test}\r\n`;
    for (const [target, status] of Object.entries({
      'http://x/api/v1/deposits': 200,
      'HTTPS://other.example:8443/api/v1/deposits?limit=1': 200,
      'http://[::1]:80/api/v1/deposits': 200,
      'http://x/api/v1/x/../deposits': 404,
      'http://x': 302,
      'http://x?y': 302,
      'http://%41/api/v1/deposits': 200,
    }))
      expect((await raw(target, headers))?.status, target).to.equal(status);
  });

  it('in any segment of any path are answered at once', async () => {
    const paths = ROUTES.map(({ path }) => `/api/v1${path}`).filter((path) => path.includes(':'));
    const headers = `x-api-key: ${api.keys.test}\r\n`;
    expect(paths.length).to.be.greaterThan(5);
    for (const path of [...new Set(paths), '/pay/:token', '/:any'])
      for (const text of ['%41', '/', '%', 'a', '..;', '-'].map((run) => run.repeat(LONGEST / run.length))) {
        const ms = await leastMs(LIMIT_MS, async () =>
          expect((await raw(path.replace(/:\w+/, text), headers))?.status).to.be.within(400, 499),
        );
        expect(ms, `${path} ${text.slice(0, 10)}`).to.be.below(LIMIT_MS);
      }
  });

  it('in any header that is read are answered at once', async () => {
    const names = await headersRead(async () => {
      for (const { method, path } of ROUTES) {
        const url = api.url + path.replace(/:\w+/, crypto.randomUUID());
        await call(url, {
          method: method.toUpperCase(),
          key: api.keys.test,
          headers: { 'Idempotency-Key': 'a', 'x-request-id': 'b' },
        });
      }
      for (const path of ['/login', '/logout', '/docs', '/pay/x']) {
        await call(api.origin + path);
        await call(api.origin + path, {
          method: 'POST',
          headers: { Cookie: 'a=b', Accept: 'text/html' },
          body: {},
        });
      }
    });
    expect(names).to.include.members([
      'authorization',
      'x-api-key',
      'cookie',
      'idempotency-key',
      'x-request-id',
      'x-forwarded-for',
      'content-type',
      'origin',
    ]);
    const shapes = [
      'a',
      '.',
      '[:',
      ':',
      '[::',
      ',',
      ' ,',
      ';',
      '=;',
      'ch_session=a;',
      '"',
      '/',
      'a/',
      '1.',
      'a=b;',
      'sk_test_',
      ' a',
    ];
    for (const name of names.filter(
      (one) =>
        !['content-length', 'transfer-encoding', 'connection', 'expect', 'upgrade', 'host'].includes(one),
    ))
      for (const run of shapes)
        for (const [start, end] of [
          ['', ''],
          ['Bearer ', ' '],
          ['[', '!'],
        ]) {
          const value = line(`${start}${run.repeat(LONGEST / run.length)}${end}`);
          const headers = `${name}: ${value}\r\n${name === 'x-api-key' || name === 'authorization' ? '' : `x-api-key: ${api.keys.test}\r\n`}`;
          const ms = await leastMs(LIMIT_MS, async () =>
            expect((await raw('/api/v1/balance', headers))?.status, `${name}: ${run}`).to.be.within(200, 499),
          );
          expect(ms, `${name}: ${value.slice(0, 30)}`).to.be.below(LIMIT_MS);
        }
    expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('are read for a client’s address in no more time than their length deserves', async () => {
    const addressOf = createClientAddress([PROXY]);
    for (const text of hostileTexts(LONGEST)) {
      const request = { socket: { remoteAddress: PROXY }, headers: { 'x-forwarded-for': text } };
      expect(await leastMs(LIMIT_MS, () => addressOf(request as never)), text.slice(0, 20)).to.be.below(
        LIMIT_MS,
      );
    }
  });
});
