import { connect } from 'node:net';
import { expect } from 'chai';
import { z } from 'zod';
import { ownPostgres } from '../../../dev/support/parts.ts';
import { createApp } from '../../../src/api/app.ts';
import { ok, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { createServer } from '../../../src/api/server.ts';
import { addSession } from '../../../src/services/access/sessions.ts';
import { createUser } from '../../../src/services/access/users.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const LIMIT_MS = 2_000;
const TOKEN = 'pl_u0uQeB1zW0bq7mQ0m3XyqY2l8R5wT4fJ';

describe('the API while a part is away', function () {
  this.timeout(60_000);

  describe('PostgreSQL', () => {
    let server: Awaited<ReturnType<typeof ownPostgres>>;
    let api: TestApi;
    let cookie = '';
    before(async () => {
      server = await ownPostgres();
      api = await startTestApi({ databaseUrl: server.now.url, poolSize: 4 });
      cookie = await signIn(api, await newUser(api));
    });
    after(async () => {
      server.now.resume();
      await api.stop();
      await server.stop();
    });

    const expectUnavailable = async (input: {
      method?: string;
      path: string;
      body?: unknown;
      key?: string | undefined;
      headers?: Record<string, string>;
    }) => {
      const startedAt = performance.now();
      const answer = await call(api.url + input.path, { key: api.keys.test, ...input });
      const durationMs = performance.now() - startedAt;
      expect(
        [answer.status, answer.body['code']],
        `${input.method} ${input.path} ${answer.text}`,
      ).to.deep.equal([503, 'UNAVAILABLE']);
      expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
      expect(answer.text).not.to.match(/postgres|127\.0\.0\.1|ECONN|select|timeout exceeded/i);
      expect(durationMs).to.be.lessThan(LIMIT_MS);
    };
    const expectPageUnavailable = async () => {
      const startedAt = performance.now();
      const answer = await call(`${api.origin}/pay/pl_${'A'.repeat(32)}`);
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
        503,
        'text/html; charset=utf-8',
      ]);
      expect(answer.text).to.include('not available').and.include('http-equiv="refresh"');
      expect(performance.now() - startedAt).to.be.lessThan(LIMIT_MS);
    };
    const expectDashboardUnavailable = async () => {
      for (const path of ['/dashboard', '/dashboard/test/customers', '/dashboard/deposits.csv']) {
        const startedAt = performance.now();
        const answer = await call(api.origin + path, { headers: { Cookie: cookie } });
        expect([answer.status, answer.headers.get('content-type')], path).to.deep.equal([
          503,
          'text/html; charset=utf-8',
        ]);
        expect(answer.text, path)
          .to.include('Nothing is lost.')
          .and.not.match(/postgres|ECONN|select /i);
        expect(performance.now() - startedAt, path).to.be.lessThan(LIMIT_MS);
      }
    };
    const works = async () => (await call(`${api.url}/customers`, { key: api.keys.test })).status === 200;
    const expectRecovered = async () => {
      for (let tries = 0; tries < 100 && !(await works()); tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await works()).to.equal(true);
    };

    it('answers 503 within 2 s when it is stopped, also many at once, and works again when it is back', async () => {
      expect(await works()).to.equal(true);
      await server.stop();
      await Promise.all(
        Array.from({ length: 30 }, () => expectUnavailable({ path: '/customers/exists?email=x' })),
      );
      await expectUnavailable({ path: '/customers', body: { external_id: 'x' } });
      await expectPageUnavailable();
      await expectDashboardUnavailable();
      // Outside the base path, as everything for people.
      await expectUnavailable({ path: '/../../login', body: { email: 'a@b', password: 'x' } });
      await expectUnavailable({
        path: '/webhook-endpoints',
        body: { url: 'http://127.0.0.1:9/', events: '*' },
      });
      await server.start();
      await expectRecovered();
    });

    it('answers 503 within 2 s when it hangs without a word, and works again when it goes on', async () => {
      expect(await works()).to.equal(true);
      server.now.pause();
      await Promise.all(
        Array.from({ length: 12 }, () => expectUnavailable({ path: '/customers/exists?email=x' })),
      );
      await expectPageUnavailable();
      await expectDashboardUnavailable();
      await expectUnavailable({ path: '/customers', body: { external_id: 'y' } });
      await expectUnavailable({ path: '/../../login', body: { email: 'a@b', password: 'x' } });
      server.now.resume();
      await expectRecovered();
    });

    it('answers 503 within 2 s on every route, by key, by session and to the public, whether it is stopped or hangs', async () => {
      const { userId } = await createUser(api.deps, {
        merchantId: api.merchant.id,
        email: 'a@example.com',
        password: 'correct horse battery',
      });
      const token = await api.deps.orm.em
        .fork()
        .transactional((em) => addSession(em, api.deps, { userId, site: '203.0.113.9' }));
      const cookie = { Cookie: `ch_session=${token}` };
      const ask = async () => {
        const requests = ROUTES.flatMap(({ method, path, only, auth }) => {
          const target = {
            method: method.toUpperCase(),
            path: path.replace(/:token/, TOKEN).replace(/:[a-z_]+/, UNKNOWN_ID),
          };
          const bySession = { ...target, key: undefined, headers: cookie };
          if (auth === 'none') return [{ ...target, key: undefined }];
          return only === 'session' ? [bySession] : [target, bySession];
        });
        await Promise.all(requests.map(expectUnavailable));
      };
      await server.stop();
      await ask();
      await server.start();
      await expectRecovered();
      server.now.pause();
      await ask();
      server.now.resume();
      await expectRecovered();
    });

    it('still answers 401 to a mistyped key and 404 to an unknown route, which need no database', async () => {
      await server.stop();
      expect((await call(`${api.url}/customers`, { key: 'sk_live_typo' })).status).to.equal(401);
      expect((await call(`${api.url}/none`)).status).to.equal(404);
      await server.start();
      await expectRecovered();
    });
  });

  describe('the client', () => {
    let api: TestApi;
    before(async () => {
      api = await startTestApi();
    });
    after(() => api.stop());

    const talk = (bytes: string, closeAfterMs = 30_000) =>
      new Promise<{ text: string; ms: number }>((resolve, reject) => {
        const startedAt = performance.now();
        const socket = connect({ port: Number(new URL(api.origin).port), host: '127.0.0.1' });
        let text = '';
        socket.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        socket
          .once('close', () => resolve({ text, ms: performance.now() - startedAt }))
          .once('error', reject);
        socket.setTimeout(closeAfterMs, () => socket.destroy());
        socket.write(bytes);
      });

    it('is cut off when its headers never end', async () => {
      const { text, ms } = await talk('GET /api/v1/customers HTTP/1.1\r\nHost: x\r\n');
      expect(text).to.match(/^HTTP\/1\.1 408 /);
      expect(ms).to.be.within(9_000, 15_000);
    });

    it('is told in JSON when it sends no HTTP or too many headers', async () => {
      for (const [bytes, status] of [
        ['\u0000\u0001\u0002\r\n\r\n', 400],
        [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      ] as const) {
        const { text } = await talk(bytes);
        expect(text).to.contain(`HTTP/1.1 ${status} `);
        expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).error).to.be.a('string');
      }
    });

    it('gets no answer to half a body, and nothing is made', async () => {
      const head = `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nx-api-key: ${api.keys.test}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n`;
      await talk(`${head}{"external_id":"half"`, 300);
      expect((await call(`${api.url}/customers`, { key: api.keys.test })).body['data']).to.deep.equal([]);
      expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
    });
  });

  it('lets running requests end when the server closes, and takes no new ones', async () => {
    const slow = route({
      method: 'get',
      path: '/slow',
      operationId: 'slow',
      auth: 'none',
      scope: 'none',
      tag: 'Test',
      statuses: [200],
      summary: 'Slow',
      response: z.strictObject({ done: z.boolean() }),
      read: async () => {
        await new Promise((resolve) => setTimeout(resolve, 500));
        return ok({ done: true });
      },
    });
    const api = await startTestApi();
    const server = createServer(createApp({ deps: api.deps, checkResponses: true, routes: [slow] }));
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    const url = `http://127.0.0.1:${port}/api/v1/slow`;
    const running = call(url);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closing = server.close(5_000);
    const late = await call(url).catch((error: unknown) => error);
    expect(late).to.be.an('error');
    expect((await running).body).to.deep.equal({ done: true });
    await closing;
    await api.stop();
  });
});
