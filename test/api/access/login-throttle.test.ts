import { createHook } from 'node:async_hooks';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { type Attempt, takeAttempt } from '../../../src/services/access/throttle.ts';
import { enableTotp } from '../../../src/services/access/users.ts';
import type { Answer, TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';
import { startTwo, type TwoProcesses } from '../two-processes.ts';

const MINUTE_MS = 60_000;
const WRONG = { password: 'not the password' };
/** How many passwords are hashed while this is done: each by a native call, which has no name of its own. */
async function hashesOf(work: () => Promise<unknown>): Promise<number> {
  let hashes = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (String(type) === 'undefined') hashes += 1;
    },
  }).enable();
  await work().finally(() => hook.disable());
  return hashes;
}

describe('guessing at the login', function () {
  this.timeout(60_000);
  let two: TwoProcesses;
  let api: TestApi;
  let second: TestApi;
  let clock: TwoProcesses['clock'];
  let addresses = 0;
  before(async () => {
    two = await startTwo();
    ({ api, second, clock } = two);
  });
  after(() => two?.stop());

  /** An address in a network that nobody used before. */
  const newAddress = (): string => {
    addresses += 1;
    return `198.${Math.floor(addresses / 250)}.${addresses % 250}.1`;
  };
  /** How many of so many tries, one after the other, were let in to have a password looked at. */
  const tries = async (count: number, attempt: (index: number) => Partial<Attempt>): Promise<number> => {
    let taken = 0;
    for (let index = 0; index < count; index += 1) {
      const one = { site: newAddress(), email: `guess${index}@example.com`, known: false, ...attempt(index) };
      if ((await takeAttempt((index % 2 ? api : second).deps, one)).ok) taken += 1;
    }
    return taken;
  };
  const tally = (answers: readonly Answer[]) => {
    const count: Record<number, number> = {};
    for (const { status } of answers) count[status] = (count[status] ?? 0) + 1;
    return count;
  };

  it('ends after ten failures in five minutes for an address, even with the right password, and for this address alone', async () => {
    const [user, other, from] = [await newUser(api), await newUser(api), newAddress()];
    const failures = [];
    for (let index = 0; index < 10; index += 1)
      failures.push(await postLogin(api, index % 2 ? user : other, { ...WRONG, from }));
    expect(tally(failures)).to.deep.equal({ 401: 10 });
    const refused = await postLogin(api, user, { from });
    expect([refused.status, refused.body['code'], refused.headers.getSetCookie()]).to.deep.equal([
      429,
      'RATE_LIMITED',
      [],
    ]);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 300);
    expect((await postLogin(api, user, { from: newAddress() })).status).to.equal(200);
  });

  it('is possible again exactly when Retry-After says, one try for each that is five minutes old', async () => {
    const site = newAddress();
    const take = () => takeAttempt(api.deps, { site, email: 'exact@example.com', known: false });
    await take();
    clock.ms += 2 * MINUTE_MS;
    expect(await tries(9, () => ({ site }))).to.equal(9);
    expect(await take()).to.deep.equal({ ok: false, retryAfterSeconds: 180 });
    clock.ms += 3 * MINUTE_MS - 1;
    expect(await take()).to.include({ ok: false });
    clock.ms += 1;
    expect(await take()).to.include({ ok: true });
    expect(await take()).to.include({ ok: false });
  });

  it('is not what a login that succeeds is counted as', async () => {
    const [user, from] = [await newUser(api), newAddress()];
    expect(await tries(9, () => ({ site: from }))).to.equal(9);
    const answers = [];
    for (const more of [{}, {}, WRONG, {}]) answers.push(await postLogin(api, user, { ...more, from }));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 401, 429]);
  });

  it('gets no more than its budget out of a hundred simultaneous tries at two processes', async () => {
    const site = newAddress();
    const taken = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        takeAttempt((index % 2 ? api : second).deps, { site, email: `s${index}@example.com`, known: false }),
      ),
    );
    expect(taken.filter(({ ok }) => ok)).to.have.length(10);
    for (const one of taken) if (!one.ok) expect(one.retryAfterSeconds).to.be.at.least(1);
  });

  it('counts a /64 of IPv6 as one address, and gives a network around addresses ten times as much', async () => {
    expect(await tries(15, (index) => ({ site: `2001:db8:7:7:${index + 1}::${index}` }))).to.equal(10);
    expect(await tries(1, () => ({ site: '2001:db8:7:8::1' }))).to.equal(1);
    for (const [of, next] of [
      [(index: number) => `192.0.2.${index}`, '192.0.3.1'],
      [(index: number) => `2001:db8:77:${index.toString(16)}::1`, '2001:db8:78::1'],
    ] as const) {
      expect(await tries(120, (index) => ({ site: of(index) }))).to.equal(100);
      expect(await tries(1, () => ({ site: of(200) })), 'a stranger from there').to.equal(0);
      expect(await tries(1, () => ({ site: of(200), known: true })), 'an owner at home there').to.equal(1);
      expect(await tries(1, () => ({ site: next }))).to.equal(1);
    }
  });

  it('from fifty addresses ends after twenty failures in an hour, and locks the owner out of no place that the owner knows', async () => {
    const owner = await newUser(api);
    const [home, email] = [newAddress(), owner.email];
    await signIn(api, owner, { from: home });
    expect(await tries(50, () => ({ email }))).to.equal(20);
    const strange = await postLogin(api, owner, { from: newAddress() });
    const slip = await postLogin(api, owner, { ...WRONG, from: home });
    const known = await postLogin(api, owner, { from: home });
    expect([strange, slip, known].map(({ status }) => status)).to.deep.equal([429, 401, 200]);
    clock.ms += 60 * MINUTE_MS;
    expect((await postLogin(api, owner, { from: newAddress() })).status, 'an hour later').to.equal(200);
  });

  it('does not tell an account that exists from one that does not, by answer, by limit or by the work that it makes', async () => {
    const user = await newUser(api);
    const told: unknown[][] = [];
    for (const email of [user.email, 'nobody.at.all@example.com']) {
      const answers: Answer[] = [];
      const guess = async () => {
        answers.push(await postLogin(api, { ...user, email }, { ...WRONG, from: newAddress() }));
      };
      const hashes = [await hashesOf(guess)];
      await tries(19, () => ({ email }));
      hashes.push(await hashesOf(guess));
      expect(hashes, email).to.deep.equal([1, 0]);
      const shown = answers.map(({ status, text, headers }) => [
        status,
        text,
        headers.get('retry-after'),
        headers.getSetCookie(),
      ]);
      expect(shown.map(([status]) => status)).to.deep.equal([401, 429]);
      told.push(shown);
    }
    expect(told[1]).to.deep.equal(told[0]);
  });

  it('says nothing of which of password and code is wrong, and takes each code once, also of simultaneous logins', async () => {
    const user = await newUser(api);
    const { secret } = await enableTotp(api.deps, user);
    const codeOf = (aheadMs: number) => new TOTP({ secret }).generate({ timestamp: clock.ms + aheadMs });
    const refused = [];
    for (const more of [{}, { totp: codeOf(-90_000) }, { totp: codeOf(0), ...WRONG }])
      refused.push(await postLogin(api, user, { ...more, from: newAddress() }));
    expect(tally(refused)).to.deep.equal({ 401: 3 });
    expect(new Set(refused.map(({ text }) => text)).size).to.equal(1);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        postLogin(index % 2 ? api : second, user, { totp: codeOf(0), from: newAddress() }),
      ),
    );
    expect(tally(answers)).to.deep.equal({ 200: 1, 401: 7 });
    const later = [];
    for (const aheadMs of [0, -30_000, 30_000])
      later.push((await postLogin(api, user, { totp: codeOf(aheadMs), from: newAddress() })).status);
    expect(later, 'used, older, the next one').to.deep.equal([401, 401, 200]);
  });
});
