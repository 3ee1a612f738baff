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
import { createUser, listUsers, resetPassword } from '../../../src/services/access/users.ts';
import { listActions } from '../../../src/services/audit/list.ts';
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

  it('is listed by email, with who is who, and without anybody of another merchant', async () => {
    const ben = await people.newPerson(merchantId, { totp: true });
    await people.newPerson(await people.newMerchant());
    const { userId, email, expiresAt } = await invite(ann);
    const team = await listTeam(people.deps, ann.owner);
    expect(team.map((one) => one.email)).to.deep.equal(team.map((one) => one.email).sort());
    expect(team.map(({ id, isYou }) => [id, isYou])).to.have.deep.members([
      [ann.owner.userId, true],
      [ben.id, false],
      [userId, false],
    ]);
    const shown = (id: string) => team.find((one) => one.id === id);
    expect(shown(ben.id)).to.include({ totp: true, lastLoginAt: null, invitedUntil: null });
    expect(shown(userId)).to.deep.include({ email, invitedUntil: expiresAt });
    expect(JSON.stringify(team)).to.not.contain('argon2');
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
    const told = async (email: string, site = HOME) =>
      await ask(ann.owner, ` ${email.toUpperCase()} `, site).then(
        ({ kind }) => kind,
        (error: Error) => error.message.replace(email, 'EMAIL'),
      );
    expect(await told(elsewhere.email)).to.match(/^EMAIL signs in at this gateway already/);
    expect(await told(here.email)).to.equal(await told(elsewhere.email));
    expect(await told(ann.owner.userId)).to.match(/^The email must be an address/);
    const site = '198.51.100.20';
    const many = await Promise.all(Array.from({ length: 30 }, () => told(elsewhere.email, site)));
    expect(many.filter((one) => one !== 'throttled').length, many.join()).to.be.within(1, 10);
    const login = { email: elsewhere.email, password: PASSWORD, site };
    expect((await people.login(login)).kind).to.equal('throttled');
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

  it('has a hundred people at most, also where several are invited at the same moment', async () => {
    await people.sql(
      `insert into users (id, merchant_id, email, password_hash, created_at, updated_at)
         select gen_random_uuid(), ?, 'many' || ? || n || '@example.com', 'none', now(), now()
         from generate_series(1, 97) as n returning id`,
      [merchantId, `${newEmail()}.`.replace('@', '.')],
    );
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => outcomeOf(invite(ann))));
    expect(outcomes.sort()).to.deep.equal(['INVALID', 'INVALID', 'INVALID', 'done', 'done']);
    expect(await idsOf(ann)).to.have.length(100);
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
      const gone = { email: ben.email, password: CHOSEN };
      expect(await outcomeOf(resetPassword(people.deps, gone))).to.equal('NOT_FOUND');
      expect((await listUsers(people.deps)).map(({ id }) => id)).to.not.include(ben.id);
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

    it('keeps the audit list: it says who acted, and who was invited and removed by whom', async () => {
      const ben = await people.newPerson(merchantId);
      const signedIn = await people.steppedUp(ben);
      const { userId } = await invite(signedIn);
      await remove(ann, ben.id);
      const rows = await listActions(people.deps, { merchantId, limit: 10 });
      const of = (action: string) => {
        const row = rows.find((one) => one.action === action);
        return row && { by: row.by, subject: row.subject, from: row.from };
      };
      const { email } = (await listTeam(people.deps, ann.owner)).find(({ isYou }) => isYou) ?? { email: '' };
      expect(of('user.invite')).to.deep.equal({ by: ben.email, subject: userId, from: HOME });
      expect(of('user.remove')).to.deep.equal({ by: email, subject: ben.id, from: HOME });
    });

    it('lets the email begin anew, here or elsewhere, as somebody else', async () => {
      const ben = await people.newPerson(merchantId);
      await remove(ann, ben.id);
      const { userId, token } = await invite(ann, ben.email);
      expect(userId).to.not.equal(ben.id);
      await set(token);
      const kinds = [await loginKind(ben.email), await loginKind(ben.email, CHOSEN)];
      expect(kinds).to.deep.equal(['refused', 'signed-in']);
      await remove(ann, userId);
      const other = await people.newMerchant();
      await createUser(people.deps, { merchantId: other, email: ben.email, password: PASSWORD });
      expect(await loginKind(ben.email)).to.equal('signed-in');
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

  for (const [size, rounds] of [
    [2, 4],
    [4, 2],
  ] as const)
    it(`keeps somebody where ${size} people remove each other in a circle at the same moment, and nobody waits for ever`, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const own = await people.newMerchant();
        const circle: SignedIn[] = [];
        for (let index = 0; index < size; index += 1)
          circle.push(await people.steppedUp(await people.newPerson(own)));
        const outcomes = await Promise.all(
          circle.map((one, index) => {
            const next = circle[(index + 1) % size] as SignedIn;
            return outcomeOf(remove(one, next.owner.userId));
          }),
        );
        const done = outcomes.filter((outcome) => outcome === 'done').length;
        const left = await people.sql('select id from users where merchant_id = ? and removed_at is null', [
          own,
        ]);
        expect(left, outcomes.join()).to.have.length(size - done);
        expect(left.length).to.be.at.least(1);
        if (size === 2) expect(outcomes.sort()).to.deep.equal(['STEP_UP_REQUIRED', 'done']);
      }
    });
});
