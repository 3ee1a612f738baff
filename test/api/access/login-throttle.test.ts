import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { enableTotp } from '../../../src/services/access/users.ts';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { newUser, postLogin, signIn } from '../../support/sign-in.ts';

const MINUTE_MS = 60_000;
const WRONG = { password: 'not the password' };
/** Real proxies report the client; here the tests are the proxy. */
const OPTIONS = { trustedProxies: ['127.0.0.1'] };

describe('guessing at the login', function () {
  this.timeout(60_000);
  let api: TestApi;
  let second: TestApi;
  let clockMs = Date.now();
  let addresses = 0;
  before(async () => {
    const now = () => new Date(clockMs);
    api = await startTestApi({ ...OPTIONS, deps: { now } });
    const url = api.deps.orm.config.get('clientUrl') as string;
    second = await startTestApi({
      ...OPTIONS,
      deps: { now, secretBox: api.deps.secretBox },
      databaseUrl: url,
    });
  });
  after(async () => {
    await second.stop();
    await api.stop();
  });

  /** An address in a network that nobody used before. */
  const newAddress = (): string => {
    addresses += 1;
    return `198.${Math.floor(addresses / 250)}.${addresses % 250}.1`;
  };
  const statuses = async (count: number, attempt: (index: number) => Promise<Answer>): Promise<number[]> => {
    const answers: number[] = [];
    for (let index = 0; index < count; index += 1) answers.push((await attempt(index)).status);
    return answers;
  };
  const tally = (answers: readonly Answer[]) => {
    const count: Record<number, number> = {};
    for (const { status } of answers) count[status] = (count[status] ?? 0) + 1;
    return count;
  };

  it('ends after ten failures in five minutes for an address, even with the right password, and for this address alone', async () => {
    const user = await newUser(api);
    const from = newAddress();
    const others = [await newUser(api), await newUser(api)];
    const failures = await statuses(10, (index) =>
      postLogin(api, others[index % 2] ?? user, { ...WRONG, from }),
    );
    expect(failures).to.deep.equal(Array(10).fill(401));
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
    const user = await newUser(api);
    const from = newAddress();
    await postLogin(api, user, { ...WRONG, from });
    clockMs += 2 * MINUTE_MS;
    await statuses(9, () => postLogin(api, user, { ...WRONG, from }));
    const refused = await postLogin(api, user, { ...WRONG, from });
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '180']);
    clockMs += 3 * MINUTE_MS - 1;
    expect((await postLogin(api, user, { ...WRONG, from })).status).to.equal(429);
    clockMs += 1;
    expect((await postLogin(api, user, { ...WRONG, from })).status).to.equal(401);
    expect((await postLogin(api, user, { ...WRONG, from })).status).to.equal(429);
  });

  it('is not what a login that succeeds is counted as', async () => {
    const user = await newUser(api);
    const from = newAddress();
    await statuses(9, () => postLogin(api, user, { ...WRONG, from }));
    expect(await statuses(12, () => postLogin(api, user, { from }))).to.deep.equal(Array(12).fill(200));
    expect((await postLogin(api, user, { ...WRONG, from })).status).to.equal(401);
    expect((await postLogin(api, user, { from })).status).to.equal(429);
  });

  it('gets no more than its budget out of a hundred simultaneous tries at two processes', async () => {
    const user = await newUser(api);
    const from = newAddress();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        postLogin(index % 2 ? api : second, user, { ...WRONG, from }),
      ),
    );
    expect(tally(answers)).to.deep.equal({ 401: 10, 429: 90 });
    for (const answer of answers)
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
  });

  it('counts a network of IPv6 as one address', async () => {
    const user = await newUser(api);
    const failures = await statuses(10, (index) =>
      postLogin(api, user, { ...WRONG, from: `2001:db8:7:7:${index + 1}::${index}` }),
    );
    expect(failures).to.deep.equal(Array(10).fill(401));
    expect((await postLogin(api, user, { from: '2001:db8:7:7:ffff:1:2:3' })).status).to.equal(429);
    expect((await postLogin(api, user, { from: '2001:db8:7:8::1' })).status).to.equal(200);
  });

  it('from fifty addresses ends after twenty failures in an hour, and locks the owner out of no place that the owner knows', async () => {
    const owner = await newUser(api);
    const [home, office] = [newAddress(), newAddress()];
    await signIn(api, owner, { from: home });
    await signIn(api, owner, { from: office });
    const attacks = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        postLogin(index % 2 ? api : second, owner, { ...WRONG, from: newAddress() }),
      ),
    );
    expect(tally(attacks)).to.deep.equal({ 401: 20, 429: 30 });
    expect((await postLogin(api, owner, { from: newAddress() })).status, 'at a strange address').to.equal(
      429,
    );
    for (const from of [home, office]) {
      expect((await postLogin(api, owner, { ...WRONG, from })).status, 'a slip at home').to.equal(401);
      expect((await postLogin(api, owner, { from })).status, 'the owner at home').to.equal(200);
    }
    clockMs += 60 * MINUTE_MS;
    expect((await postLogin(api, owner, { from: newAddress() })).status, 'an hour later').to.equal(200);
  });

  it('gives a known address no more than a budget of its own', async () => {
    const owner = await newUser(api);
    const home = newAddress();
    await signIn(api, owner, { from: home });
    const first = await statuses(10, () => postLogin(api, owner, { ...WRONG, from: home }));
    clockMs += 5 * MINUTE_MS;
    const rest = await statuses(10, () => postLogin(api, owner, { ...WRONG, from: home }));
    clockMs += 5 * MINUTE_MS;
    expect([...first, ...rest]).to.deep.equal(Array(20).fill(401));
    expect((await postLogin(api, owner, { from: home })).status).to.equal(429);
    expect((await postLogin(api, owner, { from: newAddress() })).status, 'the account elsewhere').to.equal(
      200,
    );
  });

  it('does not tell an account that exists from one that does not, by answer, by limit or by time', async () => {
    const user = await newUser(api);
    const nobody = { email: 'nobody.at.all@example.com', password: user.password };
    const accounts = [user, nobody].map((who) => ({ who, told: [] as unknown[], times: [] as number[] }));
    // In turn, so that a busy moment of the machine meets both.
    for (let index = 0; index < 22; index += 1)
      for (const { who, told, times } of accounts) {
        const began = performance.now();
        const { status, text, headers } = await postLogin(api, who, { ...WRONG, from: newAddress() });
        if (index < 20) times.push(performance.now() - began);
        told.push([status, text, headers.get('retry-after'), headers.getSetCookie()]);
      }
    const [real, unreal] = accounts.map(({ told, times }) => ({
      told,
      medianMs: times.sort((a, b) => a - b)[10] ?? 0,
    }));
    expect(unreal?.told).to.deep.equal(real?.told);
    expect(real?.told.map((told) => (told as unknown[])[0])).to.deep.equal([
      ...Array(20).fill(401),
      429,
      429,
    ]);
    // Far apart where one of the two hashes nothing: a hash takes most of the time of a login.
    expect((unreal?.medianMs ?? 0) / (real?.medianMs ?? 1)).to.be.within(0.5, 2);
  });

  it('is told to a browser on the page, with the field of the code and without the password', async () => {
    const user = await newUser(api);
    const from = newAddress();
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html,*/*;q=0.8',
      'X-Forwarded-For': from,
    };
    const body = new URLSearchParams({ email: user.email, ...WRONG, next: '/docs' }).toString();
    const post = () => call(`${api.origin}/login`, { method: 'POST', body, headers });
    const pages = [];
    for (let index = 0; index < 11; index += 1) pages.push(await post());
    expect(pages.map(({ status }) => status)).to.deep.equal([...Array(10).fill(401), 429]);
    for (const page of pages) {
      expect(page.headers.get('content-type')).to.contain('text/html');
      expect(page.text)
        .to.contain('name="totp"')
        .and.contain(user.email)
        .and.contain('value="/docs"')
        .and.not.contain(WRONG.password);
    }
    expect(Number(pages[10]?.headers.get('retry-after'))).to.be.within(1, 300);
  });

  describe('at a code', () => {
    const codeOf = (secret: string, atMs = clockMs) => new TOTP({ secret }).generate({ timestamp: atMs });

    it('has the same answer as at a password, whichever of them is right', async () => {
      const user = await newUser(api);
      const { secret } = await enableTotp(api.deps, user);
      const code = codeOf(secret);
      const wrong = code === '000000' ? '000001' : '000000';
      const tries = [
        {},
        { totp: '' },
        { totp: wrong },
        { totp: 'abcdef' },
        { totp: code, ...WRONG },
        { totp: codeOf(secret, clockMs - 90_000) },
      ];
      const texts = new Set<string>();
      for (const more of tries) {
        const answer = await postLogin(api, user, { ...more, from: newAddress() });
        expect(answer.status, JSON.stringify(more)).to.equal(401);
        texts.add(answer.text);
      }
      expect(texts.size).to.equal(1);
      expect(
        (await postLogin(api, user, { totp: `${code.slice(0, 3)} ${code.slice(3)}`, from: newAddress() }))
          .status,
      ).to.equal(200);
    });

    it('finds each code good for one of twenty simultaneous logins, and never again', async () => {
      const user = await newUser(api);
      const { secret } = await enableTotp(api.deps, user);
      const totp = codeOf(secret);
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          postLogin(index % 2 ? api : second, user, { totp, from: newAddress() }),
        ),
      );
      expect(tally(answers)).to.deep.equal({ 200: 1, 401: 19 });
      clockMs += 60 * MINUTE_MS;
      const next = codeOf(secret);
      expect((await postLogin(api, user, { totp: next, from: newAddress() })).status).to.equal(200);
      expect((await postLogin(api, user, { totp: next, from: newAddress() })).status).to.equal(401);
      expect(
        (await postLogin(api, user, { totp: codeOf(secret, clockMs - 30_000), from: newAddress() })).status,
        'an older one',
      ).to.equal(401);
      expect(
        (await postLogin(api, user, { totp: codeOf(secret, clockMs + 30_000), from: newAddress() })).status,
        'the next one',
      ).to.equal(200);
    });

    it('counts as a failure like any other', async () => {
      const user = await newUser(api);
      await enableTotp(api.deps, user);
      const from = newAddress();
      expect(await statuses(11, () => postLogin(api, user, { totp: 'x', from }))).to.deep.equal([
        ...Array(10).fill(401),
        429,
      ]);
    });
  });
});
