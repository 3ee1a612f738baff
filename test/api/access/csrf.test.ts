import { expect } from 'chai';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
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

  /** Headers, and whether a change may be made with them; `own` is our origin as the browser sees it. */
  const table = (own: string): [Headers, boolean][] => {
    const { protocol, host } = new URL(own);
    const evil = { Origin: 'https://evil.example' };
    const same = { 'Sec-Fetch-Site': 'same-origin' };
    const origins = [
      'null',
      '',
      `${protocol}//evil.${host}`,
      own.replace(/^https?/, protocol === 'https:' ? 'http' : 'https'),
      `${own}@evil.example`,
    ];
    const sites = ['cross-site', 'same-site', 'none', ''];
    const good: Headers[] = [{}, { Origin: own }, { Origin: own, ...same }, same];
    const bad: Headers[] = [
      evil,
      { ...evil, ...same },
      ...origins.map((Origin) => ({ Origin })),
      ...sites.map((site) => ({ 'Sec-Fetch-Site': site })),
      { Origin: own, 'Sec-Fetch-Site': 'cross-site' },
      { ...evil, 'X-Forwarded-Host': 'evil.example', Host: 'evil.example' },
      { ...evil, Referer: `${own}/login` },
    ];
    return [
      ...good.map((one): [Headers, boolean] => [one, true]),
      ...bad.map((one): [Headers, boolean] => [one, false]),
    ];
  };

  it('changes nothing with a session, whether we are reached directly or by a public URL', async () => {
    for (const [api, own] of [
      [direct, direct.origin],
      [proxied, PUBLIC],
    ] as const) {
      const cookie = await signIn(api, api === direct ? user : await newUser(api));
      for (const [headers, allowed] of table(own)) {
        const name = JSON.stringify(headers);
        const body = { external_id: name };
        const answer = await call(`${api.url}/customers`, { headers: { Cookie: cookie, ...headers }, body });
        expect([answer.status, answer.body['code']], `${name} at ${api.origin}`).to.deep.equal(
          allowed ? [201, undefined] : [403, 'CSRF'],
        );
      }
      const made = await call(`${api.url}/customers?limit=100`, { headers: { Cookie: cookie } });
      expect(made.body['pagination'].total).to.equal(table(own).filter(([, allowed]) => allowed).length);
    }
  });

  it('signs nobody in or out, and may read', async () => {
    const cookie = await signIn(direct, user);
    const headers = { Cookie: cookie, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' };
    const endpoint = `${direct.url}/webhook-endpoints/${UNKNOWN_ID}`;
    for (const answer of [
      await postLogin(direct, user, { headers }),
      await call(`${direct.origin}/logout`, { method: 'POST', headers }),
      await call(endpoint, { method: 'DELETE', headers }),
    ])
      expect([answer.status, answer.body['code']]).to.deep.equal([403, 'CSRF']);
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
});
