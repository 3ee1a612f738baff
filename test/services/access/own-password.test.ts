import { expect } from 'chai';
import { addPasswordLink, findOpenLink } from '../../../src/services/access/password-links.ts';
import type { SessionOwner } from '../../../src/services/access/sessions.ts';
import {
  createOwnPasswordChange,
  type OwnPasswordChange,
  type OwnPasswordInput,
} from '../../../src/services/access/signed-in/own-password.ts';
import { steppedUpUntil } from '../../../src/services/access/signed-in/step-up.ts';
import { HOME, outcomeOf, PASSWORD, type People, type Person, startPeople } from './people.ts';

const NEXT = 'another horse battery';

describe('a change of the own password', function () {
  this.timeout(60_000);
  let people: People;
  let changePassword: OwnPasswordChange;
  let merchantId: string;
  let person: Person;
  before(async () => {
    people = await startPeople();
    changePassword = createOwnPasswordChange(people.deps);
    merchantId = await people.newMerchant();
  });
  after(() => people?.stop());
  beforeEach(async () => {
    people.forget();
    person = await people.newPerson(merchantId);
  });

  const change = async (owner: SessionOwner, input: Partial<OwnPasswordInput> = {}) => {
    const seen = await changePassword(owner, { present: PASSWORD, password: NEXT, site: HOME, ...input });
    return seen.kind === 'right' ? await people.inTx(seen.apply) : seen;
  };
  const loginKind = async (password: string, { email, secret } = person) =>
    (await people.login({ email, password, totp: people.codeOf(secret), site: HOME })).kind;

  it('ends the old password, every other sign-in and every link at once, and lets this sign-in go on', async () => {
    const others = [await people.signIn(person), await people.signIn(person, { site: '198.51.100.7' })];
    const link = await people.deps.orm.em
      .fork()
      .transactional((em) => addPasswordLink(em, people.deps, person.id));
    const { owner } = await people.signIn(person);
    const done = await change(owner);
    if (done.kind !== 'changed') throw new Error(done.kind);
    expect([await loginKind(PASSWORD), await loginKind(NEXT)]).to.deep.equal(['refused', 'signed-in']);
    for (const { token } of others) expect(await people.ownerOf(token)).to.equal(undefined);
    expect(await findOpenLink(people.deps, link.token)).to.equal(undefined);
    expect(await people.ownerOf(done.token)).to.deep.equal(owner);
  });

  it('leaves nothing to whoever has a copy of this sign-in’s cookie', async () => {
    const { owner, token: stolen } = await people.signIn(person);
    await change(owner);
    expect(await people.ownerOf(stolen), 'for requests under way').to.deep.equal({
      ...owner,
      isFormer: true,
    });
    people.clock.ms += 30_000;
    expect(await people.ownerOf(stolen)).to.equal(undefined);
  });

  it('forgets the networks that counted as the owner’s, but for the one that it came from', async () => {
    await people.signIn(person, { site: '198.51.100.7' });
    const { owner } = await people.signIn(person);
    await change(owner);
    const sites = await people.sql('select site from user_sites where user_id = ?', [person.id]);
    expect(sites).to.deep.equal([{ site: HOME }]);
  });

  it('ends the step-up, which spoke of the old password', async () => {
    const { owner } = await people.steppedUp(person);
    await change(owner);
    expect(await steppedUpUntil(people.deps, owner)).to.equal(undefined);
    expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('refused');
    expect((await people.stepUp(owner, { password: NEXT, site: HOME })).kind).to.equal('stepped-up');
  });

  it('leaves a row that says who and from where, and no password', async () => {
    const { owner } = await people.signIn(person);
    await change(owner, { site: '2001:db8:1:2::/64' });
    const rows = await people.sql<{ action: string }>(
      'select action, user_id, origin, merchant_id from operator_actions where subject = ? and user_id is not null',
      [person.id],
    );
    expect(rows).to.deep.equal([
      {
        action: 'user.change-password',
        user_id: person.id,
        origin: '2001:db8:1:2::/64',
        merchant_id: merchantId,
      },
    ]);
    expect(JSON.stringify(await people.sql('select * from operator_actions'))).to.not.match(/horse|argon2/);
  });

  it('asks for the present password and the code, also after a step-up, and changes nothing without both', async () => {
    const careful = await people.newPerson(merchantId, { totp: true });
    const { owner, token } = await people.steppedUp(careful);
    const used = people.codeOf(careful.secret);
    people.nextStep();
    const code = people.codeOf(careful.secret);
    for (const [present, totp] of [
      ['wrong', code],
      [PASSWORD, used],
      [PASSWORD, undefined],
    ] as const)
      expect(await change(owner, { present, totp }), `${present} ${totp}`).to.deep.equal({ kind: 'refused' });
    expect((await people.ownerOf(token))?.sessionId).to.equal(owner.sessionId);
    expect((await change(owner, { totp: code })).kind).to.equal('changed');
    people.nextStep();
    expect(await loginKind(NEXT, careful)).to.equal('signed-in');
  });

  it('counts wrong guesses like logins, and those that could not be set not at all', async () => {
    const { owner } = await people.signIn(person);
    for (let index = 0; index < 25; index += 1)
      for (const password of ['short', 'Password1234', person.email, PASSWORD])
        expect(await outcomeOf(change(owner, { password })), password).to.equal('INVALID');
    const site = '198.51.100.8';
    const kinds = [];
    for (let index = 0; index < 11; index += 1)
      kinds.push((await change(owner, { present: `guess ${index}`, site })).kind);
    expect(kinds.filter((kind) => kind === 'refused')).to.have.length(10);
    expect((await change(owner, { site })).kind).to.equal('throttled');
    expect((await people.login({ email: person.email, password: PASSWORD, site })).kind).to.equal(
      'throttled',
    );
    expect((await change(owner)).kind, 'at home').to.equal('changed');
  });

  it('is made by one of two tabs, and by neither once the sign-in has ended', async () => {
    const { owner } = await people.signIn(person);
    const tabs = await Promise.all(
      [`${NEXT} one`, `${NEXT} two`].map(async (password) => (await change(owner, { password })).kind),
    );
    expect(tabs.sort()).to.deep.equal(['changed', 'refused']);
    const [set] = await Promise.all([`${NEXT} one`, `${NEXT} two`].map((one) => loginKind(one)));
    await people.sql('delete from sessions where id = ?', [owner.sessionId]);
    const present = set === 'signed-in' ? `${NEXT} one` : `${NEXT} two`;
    expect(await outcomeOf(change(owner, { present }))).to.equal('STEP_UP_REQUIRED');
    expect(await loginKind(present), 'nothing changed').to.equal('signed-in');
  });
});
