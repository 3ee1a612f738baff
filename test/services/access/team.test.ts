import { expect } from 'chai';
import { findOpenLink } from '../../../src/services/access/password-links.ts';
import type { SessionOwner } from '../../../src/services/access/sessions.ts';
import { createPasswordSetter } from '../../../src/services/access/set-password.ts';
import {
  inviteUser,
  listTeam,
  prepareInvitation,
  removeUser,
} from '../../../src/services/access/signed-in/team.ts';
import { HOME, MINUTE, outcomeOf, PASSWORD, type People, type SignedIn, startPeople } from './people.ts';

const CHOSEN = 'a chosen horse battery';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('the team of a merchant', function () {
  this.timeout(60_000);
  let people: People;
  let merchantId: string;
  let ann: SignedIn;
  let count = 0;
  before(async () => {
    people = await startPeople();
  });
  after(() => people?.stop());
  beforeEach(async () => {
    people.forget();
    merchantId = await people.newMerchant();
    ann = await people.steppedUp(await people.newPerson(merchantId));
  });

  const newEmail = (): string => {
    count += 1;
    return `new${count}@example.com`;
  };
  const ask = async (owner: SessionOwner, email: string, site = HOME) => {
    const deps = people.as(owner);
    const invitation = await prepareInvitation(deps, owner, { email, site });
    if (invitation.kind === 'throttled') return invitation;
    const invited = await people.inTx((em) => inviteUser(em, deps, owner, invitation));
    return { kind: 'invited', ...invited } as const;
  };
  const invite = async ({ owner }: SignedIn, email = newEmail(), site = HOME) => {
    const invited = await ask(owner, email, site);
    if (invited.kind === 'throttled') throw new Error(invited.kind);
    const [page, token] = invited.path.split('#');
    expect(page).to.equal('/set-password');
    return { ...invited, email, token: token ?? '' };
  };
  const remove = ({ owner }: SignedIn, userId: string) =>
    people.inTx((em) => removeUser(em, people.as(owner), owner, userId));
  const set = (token: string) => createPasswordSetter(people.deps)({ token, password: CHOSEN, site: HOME });
  const loginKind = async (email: string, password = PASSWORD) =>
    (await people.login({ email, password, site: HOME })).kind;
  const idsOf = async ({ owner }: SignedIn) =>
    (await listTeam(people.deps, owner)).map(({ id }) => id).sort();

  it('is listed with who is who, and without anybody of another merchant', async () => {
    const ben = await people.newPerson(merchantId, { totp: true });
    await people.newPerson(await people.newMerchant());
    const { userId, email, expiresAt } = await invite(ann);
    const team = await listTeam(people.deps, ann.owner);
    expect(team.map(({ id, isYou }) => [id, isYou])).to.have.deep.members([
      [ann.owner.userId, true],
      [ben.id, false],
      [userId, false],
    ]);
    const shown = (id: string) => team.find((one) => one.id === id);
    expect(shown(ben.id)).to.include({ totp: true, lastLoginAt: null, invitedUntil: null });
    expect(shown(userId)).to.deep.include({ email, invitedUntil: expiresAt });
  });

  it('gets somebody new by a link, which sets a password once and within a day', async () => {
    const { email, token, userId } = await invite(ann);
    expect(await loginKind(email, '')).to.equal('refused');
    const stored = [];
    for (const table of ['users', 'password_links', 'operator_actions'])
      stored.push(...(await people.sql(`select * from ${table}`)));
    expect(JSON.stringify(stored)).to.not.contain(token);
    expect(await set(token)).to.deep.equal({ kind: 'set', userId, merchantId });
    expect(await loginKind(email, CHOSEN)).to.equal('signed-in');
    expect((await set(token)).kind, 'a second time').to.equal('refused');
    const late = await invite(ann);
    people.clock.ms += 24 * 60 * MINUTE;
    expect((await set(late.token)).kind, 'after a day').to.equal('refused');
  });

  it('says one sentence of an email that signs in already, here or at another merchant, and not often', async () => {
    const elsewhere = await people.newPerson(await people.newMerchant());
    const here = await people.newPerson(merchantId);
    const told = async (email: string) =>
      await ask(ann.owner, ` ${email.toUpperCase()} `).then(
        ({ kind }) => kind,
        (error: Error) => error.message.replace(email, 'EMAIL'),
      );
    expect(await told(elsewhere.email)).to.match(/^EMAIL signs in at this gateway already/);
    expect(await told(here.email)).to.equal(await told(elsewhere.email));
    expect(await told(ann.owner.userId)).to.match(/^The email must be an address/);
    const many = await Promise.all(Array.from({ length: 30 }, () => told(elsewhere.email)));
    expect(many.filter((one) => one !== 'throttled').length, many.join()).to.be.within(1, 10);
  });

  it('asks for a step-up by an invitation and by a removal, which without one cost nobody anything', async () => {
    const { owner } = await people.signIn(await people.newPerson(merchantId));
    const before = await people.sql('select count(*) from users');
    for (let index = 0; index < 11; index += 1)
      for (const work of [
        () => ask(owner, newEmail()),
        () => people.inTx((em) => removeUser(em, people.as(owner), owner, ann.owner.userId)),
      ])
        expect(await outcomeOf(work())).to.equal('STEP_UP_REQUIRED');
    expect(await people.sql('select count(*) from users')).to.deep.equal(before);
    expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('stepped-up');
  });

  describe('without somebody who was removed', () => {
    it('ends everything by which that person signs in', async () => {
      const ben = await people.newPerson(merchantId, { totp: true });
      const [phone, desk] = [await people.signIn(ben), await people.signIn(ben)];
      expect(await remove(ann, ben.id)).to.deep.equal({ email: ben.email });
      for (const { token } of [phone, desk]) expect(await people.ownerOf(token)).to.equal(undefined);
      people.nextStep();
      const login = { email: ben.email, password: PASSWORD, totp: people.codeOf(ben.secret), site: HOME };
      expect((await people.login(login)).kind).to.equal('refused');
      expect(await outcomeOf(people.stepUp(desk.owner, login))).to.equal('STEP_UP_REQUIRED');
      expect(await idsOf(ann)).to.not.include(ben.id);
      for (const table of ['sessions', 'user_sites', 'password_links'])
        expect(await people.sql(`select 1 from ${table} where user_id = ?`, [ben.id]), table).to.deep.equal(
          [],
        );
    });

    it('ends an invitation that was not used, also at the moment in which it is', async () => {
      for (let round = 0; round < 4; round += 1) {
        const { userId, token, email } = await invite(ann);
        await Promise.all([set(token), remove(ann, userId)]);
        expect(await findOpenLink(people.deps, token)).to.equal(undefined);
        expect(await loginKind(email, CHOSEN), `round ${round}`).to.equal('refused');
        const open = 'select 1 from password_links where user_id = ? and used_at is null';
        expect(await people.sql(open, [userId])).to.deep.equal([]);
        people.clock.ms += 2 * MINUTE;
        ann = { ...ann, owner: await people.steppedUpAgain(ann.owner) };
      }
    });

    it('lets the email begin anew as somebody else, while the row stays removed', async () => {
      const ben = await people.newPerson(merchantId);
      await remove(ann, ben.id);
      const { userId, token } = await invite(ann, ben.email);
      expect(userId).to.not.equal(ben.id);
      await set(token);
      const kinds = [await loginKind(ben.email), await loginKind(ben.email, CHOSEN)];
      expect(kinds).to.deep.equal(['refused', 'signed-in']);
      for (const change of ['removed_at = null', "password_hash = 'x'", "email = 'x@example.com'"]) {
        const changed = people.sql(`update users set ${change} where id = ?`, [ben.id]);
        const said = await changed.catch((error: Error) => error.message);
        expect(said, change).to.contain('stays removed');
      }
    });

    it('has nobody removed who is oneself, of another merchant, unknown or gone', async () => {
      const stranger = await people.newPerson(await people.newMerchant());
      const ben = await people.newPerson(merchantId);
      await remove(ann, ben.id);
      expect(await outcomeOf(remove(ann, ann.owner.userId))).to.equal('INVALID');
      for (const id of [stranger.id, ben.id, UNKNOWN, '', 'x', `${ben.id}' or true`])
        expect(await outcomeOf(remove(ann, id)), id).to.equal('NOT_FOUND');
      expect(await loginKind(stranger.email)).to.equal('signed-in');
      expect((await people.ownerOf(ann.token))?.userId).to.equal(ann.owner.userId);
    });
  });
});
