import { expect } from 'chai';
import { apiOf } from '../../support/gateway.ts';
import { newUser } from '../../support/sign-in.ts';

describe('a form that somebody comes back to', function () {
  this.timeout(60_000);
  const api = apiOf();

  it('keeps no password, and shows nothing that another origin sent', async () => {
    const user = await newUser(api);
    const post = (path: string, members: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(api.origin + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(members),
        headers,
      });
    const change = { network: '203.0.113.7', confirm_password: user.password, confirm_code: '123456' };
    const kept = await post('/dashboard/settings/allowlist', change);
    const text = await kept.text();
    expect([kept.status, text.includes('203.0.113.7')]).to.deep.equal([401, true]);
    expect(text).to.not.include(user.password).and.not.include('123456');
    const password = { present: user.password, password: 'a wholly new one', again: 'a wholly new one' };
    for (const [path, members, headers] of [
      ['/dashboard/settings/allowlist', change, { Origin: 'https://evil.example' }],
      // More than anybody may send.
      ['/dashboard/settings/allowlist', { ...change, more: 'a'.repeat(8_192) }, {}],
      ['/dashboard/account/password', password, {}],
    ] as [string, Record<string, string>, Record<string, string>][]) {
      const { status, headers: told } = await post(path, members, headers);
      const login = `/login?${new URLSearchParams({ next: path })}`;
      expect([status, told.get('location')], JSON.stringify(headers)).to.deep.equal([303, login]);
    }
  });
});
