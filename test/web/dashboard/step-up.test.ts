import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { pause } from '../../../src/base/async/pause.ts';
import { enableTotp } from '../../../src/services/access/users.ts';
import { startTestApi, type TestApi, troublesOf } from '../../support/gateway.ts';
import { type FormPerson, formPerson } from '../../support/http/form-person.ts';
import { newUser, type TestUser } from '../../support/sign-in.ts';

const PATH = '/dashboard/settings/allowlist';
const MINUTE = 60_000;
const STEP_MS = 30_000;
let networks = 0;

/** What money and access depend on asks for the password, and the code, again. */
describe('a guarded form of the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  const clock = { ms: Date.now() };
  let user: TestUser;
  let person: FormPerson;

  before(async () => {
    api = await startTestApi({ deps: { now: () => new Date(clock.ms) } });
  });
  after(() => api?.stop());
  beforeEach(async () => {
    // No wrong try of another test counts any more.
    clock.ms += 61 * MINUTE;
    user = await newUser(api);
    person = await formPerson(api, user);
  });

  const newNetwork = (): string => {
    networks += 1;
    return `203.0.113.${networks}`;
  };
  const listed = async (network: string): Promise<number> => {
    const rows: { n: number }[] = await api.deps.orm.em
      .fork()
      .execute('select count(*)::int as n from allowed_networks where network = ?', [`${network}/32`]);
    return rows[0]?.n ?? 0;
  };
  const change = (
    more: Record<string, string> = {},
    network = newNetwork(),
    once: string = randomUUID(),
  ) => ({
    once,
    network,
    ...more,
  });
  const proof = () => ({ confirm_password: user.password });
  const withApp = async () => {
    const careful = await newUser(api);
    const { secret } = await enableTotp(api.deps, { email: careful.email });
    const codeOf = () => new TOTP({ secret }).generate({ timestamp: clock.ms });
    const signedIn = await formPerson(api, careful, { totp: codeOf() });
    clock.ms += STEP_MS;
    return { careful, codeOf, signedIn };
  };

  it('changes nothing without the password, or with a wrong one, and shows what was typed but no password', async () => {
    const first = await person.get(PATH);
    expect(first.text).to.include('name="confirm_password"').and.not.include('name="confirm_code"');
    const wrong: Record<string, string>[] = [
      {},
      { confirm_password: '' },
      { confirm_password: 'a wrong one, surely' },
    ];
    for (const more of wrong) {
      const members = change(more);
      const answer = await person.post(PATH, members);
      expect([answer.status, answer.location, answer.cookie]).to.deep.equal([403, null, undefined]);
      expect(answer.text).to.include(`value="${members.network}"`).and.include('id="confirm_password-error"');
      expect(answer.text).to.not.include('a wrong one, surely');
      expect(await listed(members.network)).to.equal(0);
    }
  });

  it('goes on with the right one under another token, and asks no more for ten minutes', async () => {
    const before = person.state.cookie;
    const members = change(proof());
    const answer = await person.post(PATH, members);
    expect([answer.status, answer.location]).to.deep.equal([303, PATH]);
    expect(answer.cookie).to.be.a('string').and.not.equal(before);
    expect(await listed(members.network)).to.equal(1);
    expect((await person.get(PATH)).text).to.not.include('name="confirm_password"');
    clock.ms += 10 * MINUTE - 1;
    expect((await person.post(PATH, change())).status).to.equal(303);
    clock.ms += 1;
    const late = await person.post(PATH, change());
    expect(late.status).to.equal(403);
    expect(late.text).to.include('name="confirm_password"');
  });

  it('takes effect once, however often and at whatever moment it is posted, and shows a secret once', async () => {
    const { careful, codeOf, signedIn } = await withApp();
    const asked = (await signedIn.get(PATH)).text;
    expect(asked).to.include('name="confirm_password"').and.include('name="confirm_code"');
    const wrong = { confirm_password: careful.password, confirm_code: '000000' };
    const refused = await signedIn.post(PATH, change(wrong));
    expect(refused.status).to.equal(403);
    expect(refused.text).to.include('A code works once');
    for (const apart of [0, 60]) {
      clock.ms += 10 * MINUTE;
      const more = { confirm_password: careful.password, confirm_code: codeOf() };
      const path = '/dashboard/settings/keys/new';
      const members = { once: randomUUID(), label: `clicked ${apart}`, 'scopes.read': 'on', ...more };
      const first = signedIn.postRaw(path, members);
      await pause(apart);
      const answers = await Promise.all([first, signedIn.postRaw(path, members)]);
      // The other one came before or after the first one used the code up, or the sign-in went on under
      // another token.
      const shows = answers.filter(({ status, text }) => status === 200 && text.includes('sk_live_'));
      expect(shows, `${apart} ms apart`).to.have.length(1);
      for (const { status, text, location } of answers.filter((one) => one !== shows[0]))
        expect(status === 303 ? location : text).to.match(
          /This was done already|A code works once|^\/login\?/,
        );
      const made: unknown[] = await api.deps.orm.em
        .fork()
        .execute('select 1 from api_keys where label = ?', [members.label]);
      expect(made).to.have.length(1);
      signedIn.state.cookie = shows[0]?.cookie ?? '';
      const again = await signedIn.post(path, members);
      expect([again.status, again.text.includes('done already')]).to.deep.equal([200, true]);
      expect(again.text).not.to.include('sk_live_');
      clock.ms += STEP_MS;
      const still = await signedIn.get(PATH);
      expect(still.status, 'still signed in').to.equal(200);
      expect(still.text, 'and stepped up').to.not.include('name="confirm_password"');
    }
    expect(troublesOf(api)).to.deep.equal([]);
  });
});
