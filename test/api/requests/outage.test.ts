import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { ownPostgres } from '../../../dev/support/parts.ts';
import { createApp } from '../../../src/api/app.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { createServer } from '../../../src/api/server.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { openRoute } from './open-route.ts';

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

    type Input = {
      path: string;
      method?: string;
      body?: unknown;
      key?: string;
      headers?: Record<string, string>;
    };
    const expectUnavailable = async ({ path, ...input }: Input) => {
      const answer = await call(api.url + path, input);
      const { status, body, headers, text } = answer;
      const told = [status, body['code'], /^\d+$/.test(headers.get('retry-after') ?? '')];
      expect(told, `${input.method} ${path} ${text}`).to.deep.equal([503, 'UNAVAILABLE', true]);
      expect(text).not.to.match(/postgres|127\.0\.0\.1|ECONN|select|timeout exceeded/i);
    };
    const expectPageUnavailable = async (path: string, says: RegExp) => {
      const { status, headers, text } = await call(api.origin + path, { headers: { Cookie: cookie } });
      expect([status, headers.get('content-type')], path).to.deep.equal([503, 'text/html; charset=utf-8']);
      expect(text, path)
        .to.match(says)
        .and.not.match(/postgres|ECONN|select /i);
    };
    /** Every route by key, by session and to the public, many at once, and everything for people. */
    const expectAllUnavailable = async () => {
      const session = { headers: { Cookie: cookie } };
      const requests = ROUTES.flatMap(({ method, path, only, auth }): Input[] => {
        const target = {
          method: method.toUpperCase(),
          path: path.replace(/:token/, TOKEN).replace(/:[a-z_]+/, UNKNOWN_ID),
        };
        if (auth === 'none') return [target];
        const bySession = { ...target, ...session };
        return only === 'session' ? [bySession] : [{ ...target, key: api.keys.test }, bySession];
      });
      await Promise.all(requests.map(expectUnavailable));
      await Promise.all([
        // Outside the base path, as everything for people.
        expectUnavailable({ path: '/../../login', body: { email: 'a@b', password: 'x' } }),
        expectPageUnavailable(
          `/pay/${TOKEN}`,
          /not available.*http-equiv="refresh"|http-equiv="refresh".*not available/s,
        ),
        ...['/dashboard', '/dashboard/test/customers', '/dashboard/deposits.csv'].map((path) =>
          expectPageUnavailable(path, /Nothing is lost\./),
        ),
      ]);
      expect(
        (await call(`${api.url}/customers`, { key: 'sk_live_typo' })).status,
        'needs no database',
      ).to.equal(401);
      expect((await call(`${api.url}/none`)).status).to.equal(404);
    };
    const works = async () => (await call(`${api.url}/customers`, { key: api.keys.test })).status === 200;
    const expectRecovered = () => eventually('an answer', works);

    it('answers 503 to everything when it is stopped, and works again when it is back', async () => {
      expect(await works()).to.equal(true);
      await server.stop();
      await expectAllUnavailable();
      await server.start();
      await expectRecovered();
    });

    it('answers 503 to everything when it hangs without a word, and works again when it goes on', async () => {
      expect(await works()).to.equal(true);
      server.now.pause();
      await expectAllUnavailable();
      server.now.resume();
      await expectRecovered();
    });
  });

  it('lets running requests end when the server closes, and takes no new ones', async () => {
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const read = async () => {
      arrived.resolve();
      await released.promise;
      return { done: true };
    };
    const routes = [openRoute('/slow', read, { extraMs: 60_000 })];
    const api = await startTestApi();
    const server = createServer(createApp({ deps: api.deps, checkResponses: true, routes }));
    const { port } = await server.listen({ port: 0, host: '127.0.0.1' });
    const url = `http://127.0.0.1:${port}/api/v1/slow`;
    const running = call(url);
    await arrived.promise;
    const closing = server.close(30_000);
    expect(await call(url).catch((error: unknown) => error)).to.be.an('error');
    released.resolve();
    expect((await running).body).to.deep.equal({ done: true });
    await closing;
    await api.stop();
  });
});
