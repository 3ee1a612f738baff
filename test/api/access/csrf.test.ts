import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn, type TestUser } from '../../support/sign-in.ts';

type Headers = Record<string, string>;
const PUBLIC = 'https://pay.shop.example';

describe('a request that a stranger makes a browser send', () => {
  let direct: TestApi;
  let proxied: TestApi;
  let user: TestUser;
  before(async () => {
    direct = await startTestApi();
    proxied = await startTestApi({ publicUrl: PUBLIC });
    user = await newUser(direct);
  });
  after(async () => {
    await direct.stop();
    await proxied.stop();
  });

  /**
   * Headers, and whether a change may be made with them;
   * `own` and `host` are our origin as the browser sees it.
   */
  const table = (own: string): [string, Headers, boolean][] => {
    const { protocol, hostname, port } = new URL(own);
    const at = (change: Partial<{ protocol: string; hostname: string; port: string }>): string => {
      const to = { protocol, hostname, port, ...change };
      return `${to.protocol}//${to.hostname}${to.port === '' ? '' : `:${to.port}`}`;
    };
    return [
      ['neither header: no browser', {}, true],
      ['our own origin', { Origin: own }, true],
      ['our own origin and site', { Origin: own, 'Sec-Fetch-Site': 'same-origin' }, true],
      ['our own site alone', { 'Sec-Fetch-Site': 'same-origin' }, true],
      ['another origin', { Origin: 'https://evil.example' }, false],
      [
        'another origin that claims our site',
        { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' },
        false,
      ],
      ['the null origin of a sandboxed frame', { Origin: 'null' }, false],
      ['an empty origin', { Origin: '' }, false],
      ['a subdomain of ours', { Origin: at({ hostname: `evil.${hostname}` }) }, false],
      ['a name that ends with ours', { Origin: at({ hostname: `evil${hostname}` }) }, false],
      ['a name that begins with ours', { Origin: at({ hostname: `${hostname}.evil.example` }) }, false],
      ['another port', { Origin: at({ port: '9' }) }, false],
      ['another scheme', { Origin: at({ protocol: protocol === 'https:' ? 'http:' : 'https:' }) }, false],
      ['our origin with a path', { Origin: `${own}/` }, false],
      ['our origin as a user name', { Origin: `${own}@evil.example` }, false],
      ['two origins', { Origin: `${own}, https://evil.example` }, false],
      ...['cross-site', 'same-site', 'none', 'nonsense', ''].map((site): [string, Headers, boolean] => [
        `the site ${JSON.stringify(site)}`,
        { 'Sec-Fetch-Site': site },
        false,
      ]),
      ['our origin, but another site', { Origin: own, 'Sec-Fetch-Site': 'cross-site' }, false],
      [
        'a forwarded host that fits',
        { Origin: 'https://evil.example', 'X-Forwarded-Host': 'evil.example', Host: 'evil.example' },
        false,
      ],
      [
        'a referrer of ours with another origin',
        { Origin: 'https://evil.example', Referer: `${own}/login` },
        false,
      ],
    ];
  };

  const expectTable = async (
    api: TestApi,
    own: string,
    send: (headers: Headers, name: string) => Promise<{ status: number; body: Headers }>,
  ) => {
    for (const [name, headers, allowed] of table(own)) {
      const answer = await send(headers, name);
      if (allowed) expect(answer.status, `${name} at ${api.origin}`).to.be.below(300);
      else
        expect([answer.status, answer.body['code']], `${name} at ${api.origin}`).to.deep.equal([403, 'CSRF']);
    }
  };

  it('changes nothing with a session, whether we are reached directly or by a public URL', async () => {
    for (const [api, own] of [
      [direct, direct.origin],
      [proxied, PUBLIC],
    ] as const) {
      const cookie = await signIn(api, api === direct ? user : await newUser(api));
      await expectTable(api, own, (headers, name) =>
        call(`${api.url}/customers`, {
          headers: { Cookie: cookie, ...headers },
          body: { external_id: name },
        }),
      );
      const made = await call(`${api.url}/customers?limit=100`, { headers: { Cookie: cookie } });
      const allowed = table(own).flatMap(([name, , isAllowed]) => (isAllowed ? [name] : []));
      expect(made.body['data'].map((row: { external_id: string }) => row.external_id)).to.have.members(
        allowed,
      );
    }
  });

  it('signs nobody in or out', async () => {
    await expectTable(direct, direct.origin, (headers) => postLogin(direct, user, { headers }));
    await expectTable(direct, direct.origin, (headers) =>
      call(`${direct.origin}/logout`, { method: 'POST', headers }),
    );
    const cookie = await signIn(direct, user);
    const forged = { Cookie: cookie, Origin: 'https://evil.example' };
    await call(`${direct.origin}/logout`, { method: 'POST', headers: forged });
    expect((await call(`${direct.url}/customers`, { headers: { Cookie: cookie } })).status).to.equal(200);
  });

  it('is refused for every method that changes something, and reads are answered', async () => {
    const cookie = await signIn(direct, user);
    const headers = { Cookie: cookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const id = '00000000-0000-4000-8000-000000000000';
    for (const [method, path] of [
      ['POST', '/webhook-endpoints'],
      ['PUT', `/webhook-endpoints/${id}`],
      ['DELETE', `/webhook-endpoints/${id}`],
    ] as const)
      expect((await call(`${direct.url}${path}`, { method, headers })).body['code'], method).to.equal('CSRF');
    for (const method of ['GET', 'HEAD'])
      expect((await call(`${direct.url}/customers`, { method, headers })).status).to.equal(200);
  });

  it('is no matter for a key, which no browser adds by itself; a cookie beside the key makes it one', async () => {
    const headers = { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const body = { external_id: 'by-key' };
    expect((await call(`${direct.url}/customers`, { key: direct.keys.live, headers, body })).status).to.equal(
      201,
    );
    const cookie = await signIn(direct, user);
    const both = await call(`${direct.url}/customers`, {
      key: direct.keys.live,
      headers: { ...headers, Cookie: cookie },
      body: { external_id: 'both' },
    });
    expect([both.status, both.body['code']]).to.deep.equal([403, 'CSRF']);
  });

  it('is refused after the subscription and the mode, and before the body is looked at', async () => {
    const cookie = await signIn(direct, user);
    const headers = { Cookie: cookie, Origin: 'https://evil.example', 'Content-Type': 'application/json' };
    const live = await call(`${direct.url}/test/simulate-deposit`, { method: 'POST', headers, body: '{' });
    expect(live.body['code']).to.equal('TEST_MODE_ONLY');
    const test = await call(`${direct.url}/test/simulate-deposit`, {
      method: 'POST',
      headers: { ...headers, 'X-Mode': 'test' },
      body: '{',
    });
    expect(test.body['code']).to.equal('CSRF');
  });
});
