import { hash } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { PASSWORD_LINK_MS } from '../../../src/services/access/password-links.ts';
import { enableTotp, resetPassword } from '../../../src/services/access/users.ts';
import { type Answer, call, type TestApi } from '../../support/gateway.ts';
import { rows } from '../../support/once.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';
import { startTwo, type TwoProcesses } from '../two-processes.ts';
import { CHOSEN, linkUsesOf, NO_CODE } from './password-links.ts';

const SENTENCE = 'This link opens nothing: it was used, replaced by a newer one, or is older than a day.';

describe('a link that sets a password', function () {
  this.timeout(60_000);
  let two: TwoProcesses;
  let api: TestApi;
  let second: TestApi;
  let clock: TwoProcesses['clock'];
  before(async () => {
    two = await startTwo({ publicUrl: 'https://pay.example.org' });
    ({ api, second, clock } = two);
  });
  after(() => two?.stop());

  const { newAddress, linkFor, set } = linkUsesOf(() => api);
  const told = ({ status, text, headers }: Answer) => [
    status,
    text,
    headers.get('retry-after'),
    headers.getSetCookie(),
  ];

  it('ends the old password and every session at once, sets the new one, and signs nobody in', async () => {
    const user = await newUser(api);
    const cookie = await signIn(api, user);
    const code = await linkFor(user);
    const seen = await call(`${api.url}/customers`, { headers: { Cookie: cookie } });
    expect(seen.status, 'the session').to.equal(401);
    expect((await postLogin(api, user)).status, 'the old password').to.equal(401);

    const done = await set(code);
    const shown = [done.status, done.body, done.headers.getSetCookie()];
    expect(shown).to.deep.equal([200, { user_id: user.id }, []]);
    expect((await postLogin(api, user, { password: CHOSEN })).status).to.equal(200);
  });

  it('works for one of several simultaneous requests at two processes, and for no later one', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    const tries = Array.from({ length: 8 }, (_, index) => ({
      at: index % 2 ? api : second,
      password: `${CHOSEN} ${index}`,
    }));
    const answers = await Promise.all(tries.map((one) => set(code, one)));
    const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(winners, answers.map(({ status }) => status).join()).to.have.length(1);
    for (const { status } of answers) expect(status).to.be.oneOf([200, 401, 429]);
    const password = `${CHOSEN} ${winners[0]}`;
    expect((await postLogin(api, user, { password })).status, 'the password of the one').to.equal(200);
    expect((await set(code)).status).to.equal(401);
    const uses = `select 1 from operator_actions where action = 'user.set-password' and subject = ?`;
    expect(await rows(api, uses, [user.id])).to.have.length(1);
  });

  it('sets nothing that a reset at the same moment does not end', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const user = await newUser(api);
      const code = await linkFor(user);
      const [used, reset] = await Promise.all([set(code), resetPassword(second.deps, { email: user.email })]);
      expect(used.status).to.be.oneOf([200, 401]);
      expect(
        (await postLogin(api, user, { password: CHOSEN, from: newAddress() })).status,
        `after ${used.status}`,
      ).to.equal(401);
      expect((await set(reset.link?.token ?? '')).status).to.equal(200);
    }
  });

  it('answers alike whether it is unknown, no code, used, replaced, expired, reset since, or of somebody who is gone', async () => {
    const used = await linkFor(await newUser(api));
    await set(used);
    const [one, other, gone] = [await newUser(api), await newUser(api), await newUser(api)];
    const replaced = await linkFor(one);
    const newest = await linkFor(one);
    const resetSince = await linkFor(other);
    await resetPassword(api.deps, { email: other.email, password: other.password });
    const ofNobody = await linkFor(gone);
    await rows(api, 'delete from users where id = ?', [gone.id]);
    const expired = await linkFor(await newUser(api));
    const almost = await newUser(api);
    clock.ms += 1;
    const lasting = await linkFor(almost);
    clock.ms += PASSWORD_LINK_MS - 1;
    const answers = [];
    const noCodes = [NO_CODE, 'x', `${NO_CODE}A`, "' or 1=1 --"];
    for (const code of [...noCodes, used, replaced, resetSince, ofNobody, expired])
      answers.push(await set(code));
    for (const answer of answers) expect(told(answer)).to.deep.equal(told(answers[0] as Answer));
    expect([answers[0]?.status, answers[0]?.body]).to.deep.equal([
      401,
      { error: SENTENCE, code: 'UNAUTHORIZED' },
    ]);
    expect((await set(newest)).status, 'a millisecond before, it was a day old').to.equal(401);
    expect((await set(lasting)).status, 'a day but a millisecond').to.equal(200);
    expect((await postLogin(api, other)).status, 'the reset stands').to.equal(200);
  });

  it('still asks for the code of the authenticator app at the login', async () => {
    const user = await newUser(api);
    const { secret } = await enableTotp(api.deps, user);
    await set(await linkFor(user));
    expect((await postLogin(api, user, { password: CHOSEN })).status).to.equal(401);
    const totp = new TOTP({ secret }).generate({ timestamp: clock.ms });
    expect((await postLogin(api, user, { password: CHOSEN, totp })).status).to.equal(200);
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

  it('stands nowhere but in the hand of the person: not in rows, not in lines, not in an answer', async () => {
    const user = await newUser(api);
    const code = await linkFor(user);
    expect((await set(code)).status).to.equal(200);
    const stored = await rows(api, 'select l.*, a.* from password_links l, operator_actions a');
    expect(JSON.stringify(stored)).to.contain(hash('sha256', code)).and.not.contain(code);
    expect(JSON.stringify([api.lines, second.lines]))
      .to.not.contain(code)
      .and.not.contain(CHOSEN);
  });
});
