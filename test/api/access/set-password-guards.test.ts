import { hash } from 'node:crypto';
import { expect } from 'chai';
import { call, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin } from '../../support/sign-in.ts';
import { CHOSEN, linkUsesOf, NO_CODE, type PasswordLinks, startPasswordLinks } from './password-links.ts';

describe('a link that sets a password, against misuse', function () {
  this.timeout(60_000);
  let links: PasswordLinks;
  let api: TestApi;
  let second: TestApi;
  before(async () => {
    links = await startPasswordLinks();
    ({ api, second } = links);
  });
  after(() => links?.stop());

  const { newAddress, linkFor, set, rows } = linkUsesOf(() => links);

  it('keeps the rules of passwords, and a slip uses up neither the link nor the budget', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const from = newAddress();
    for (let turn = 0; turn < 6; turn += 1)
      for (const [password, sentence] of [
        ['short', /at least 12 characters/],
        [user.email, /must not be the email address/],
      ] as const) {
        const refused = await set(code, { password, from });
        expect([refused.status, refused.body['code']], refused.text).to.deep.equal([400, 'VALIDATION_ERROR']);
        expect(refused.body['error']).to.match(sentence);
      }
    const headers = { 'X-Forwarded-For': from };
    const body = { code, password: CHOSEN, again: `${CHOSEN} ` };
    const differs = await call(`${api.origin}/set-password`, { body, headers });
    expect([differs.status, differs.body['error']]).to.deep.equal([
      400,
      'The two passwords are not the same.',
    ]);
    expect((await set(code, { from })).status).to.equal(200);
  });

  it('is counted for the network together with logins, before it is looked up', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const from = newAddress();
    const statuses: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      statuses.push((await postLogin(api, user, { password: 'not the password', from })).status);
      statuses.push((await set(NO_CODE, { from })).status);
    }
    expect(statuses).to.deep.equal(Array(10).fill(401));
    const refused = await set(code, { from });
    expect([refused.status, refused.body['code']]).to.deep.equal([429, 'RATE_LIMITED']);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 300);
    expect((await postLogin(api, user, { from })).status, 'a login from there').to.equal(429);
    expect((await set(code)).status, 'from elsewhere').to.equal(200);
  });

  it('is refused from a page of somebody else, over 8 KiB, and in a query', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const forged = await set(code, { headers: { Origin: 'https://evil.example' } });
    expect([forged.status, forged.body['code']]).to.deep.equal([403, 'CSRF']);
    expect((await set(code, { password: 'x'.repeat(9_000) })).status).to.equal(413);
    const query = `code=${code}&password=${encodeURIComponent(CHOSEN)}`;
    const asked = await call(`${api.origin}/set-password?${query}`, { method: 'POST' });
    expect(asked.status).to.equal(400);
    expect((await set(code)).status, 'and is as good as before').to.equal(200);
  });

  it('stands nowhere but in the hand of the person: not in rows, not in lines, not in an answer', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const form = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html',
      'X-Forwarded-For': newAddress(),
    };
    const body = new URLSearchParams({ code, password: CHOSEN, again: CHOSEN }).toString();
    const done = await fetch(`${api.origin}/set-password`, {
      method: 'POST',
      body,
      headers: form,
      redirect: 'manual',
    });
    expect([done.status, done.headers.get('location')]).to.deep.equal([303, 'set-password?done']);
    const stored = await rows('select l.*, a.* from password_links l, operator_actions a');
    expect(JSON.stringify(stored)).to.contain(hash('sha256', code)).and.not.contain(code);
    expect(JSON.stringify([api.lines, second.lines]))
      .to.not.contain(code)
      .and.not.contain(CHOSEN);
    const lines = api.lines.filter(
      ({ text, fields }) => text === 'request' && fields['route'] === '/set-password',
    );
    expect(lines.at(-1)).to.deep.include({ level: 'info' });
  });
});
