import { expect } from 'chai';
import { addPasswordLink, findOpenLink } from '../../../src/services/access/password-links.ts';
import type { SessionOwner } from '../../../src/services/access/sessions.ts';
import {
  createOwnPasswordChange,
  type OwnPasswordInput,
} from '../../../src/services/access/signed-in/own-password.ts';
import {
  beginTotp,
  confirmTotp,
  endOwnTotp,
  pendingTotp,
} from '../../../src/services/access/signed-in/own-totp.ts';
import { countTry, steppedUpUntil } from '../../../src/services/access/signed-in/step-up.ts';
import { HOME, MINUTE, outcomeOf, PASSWORD, type People, type Person, startPeople } from './people.ts';

const NEXT = 'another horse battery';
const AWAY = '198.51.100.10';

describe('what somebody signs in by', function () {
  this.timeout(60_000);
  let people: People;
  let merchantId: string;
  let person: Person;
  before(async () => {
    people = await startPeople();
    merchantId = await people.newMerchant();
  });
  after(() => people?.stop());
  beforeEach(async () => {
    people.forget();
    person = await people.newPerson(merchantId);
  });

  const rowsOf = async (action: string) =>
    await people.sql<Record<string, unknown>>(
      `select action, user_id, origin, before, after from operator_actions
       where subject = ? and action = ? and user_id is not null`,
      [person.id, action],
    );
  const tally = (kinds: readonly string[], kind: string) => kinds.filter((one) => one === kind).length;

  describe('a change of the own password', () => {
    const change = async (owner: SessionOwner, input: Partial<OwnPasswordInput> = {}) => {
      const changePassword = createOwnPasswordChange(people.deps);
      const seen = await changePassword(owner, { present: PASSWORD, password: NEXT, site: HOME, ...input });
      return seen.kind === 'right' ? await people.inTx(seen.apply) : seen;
    };
    const loginKind = async (password: string, { email, secret } = person) =>
      (await people.login({ email, password, totp: people.codeOf(secret), site: HOME })).kind;

    it('ends the old password, the step-up, every other sign-in and link, and lets this sign-in go on', async () => {
      const others = [await people.signIn(person), await people.signIn(person, { site: AWAY })];
      const link = await people.inTx((em) => addPasswordLink(em, people.deps, person.id));
      const { owner } = await people.steppedUp(person);
      const done = await change(owner, { site: HOME });
      if (done.kind !== 'changed') throw new Error(done.kind);
      expect([await loginKind(PASSWORD), await loginKind(NEXT)]).to.deep.equal(['refused', 'signed-in']);
      for (const { token } of others) expect(await people.ownerOf(token)).to.equal(undefined);
      expect(await findOpenLink(people.deps, link.token)).to.equal(undefined);
      expect(await people.ownerOf(done.token)).to.deep.equal({ ...owner, steppedUpAt: null });
      expect(await steppedUpUntil(people.deps, owner)).to.equal(undefined);
      expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('refused');
      const sites = await people.sql('select site from user_sites where user_id = ?', [person.id]);
      expect(sites, 'networks that count as the owner’s').to.deep.equal([{ site: HOME }]);
      const [row, ...more] = await rowsOf('user.change-password');
      expect([row?.['user_id'], row?.['origin'], more]).to.deep.equal([person.id, HOME, []]);
      const trail = JSON.stringify(await people.sql('select * from operator_actions'));
      expect(trail).to.not.match(/horse|argon2/);
    });

    it('asks for the present password and the code, also after a step-up, and changes nothing without both', async () => {
      const careful = await people.newPerson(merchantId, { totp: true });
      const { owner, token } = await people.steppedUp(careful);
      const usedCode = people.codeOf(careful.secret);
      people.nextStep();
      const code = people.codeOf(careful.secret);
      for (const [present, totp] of [
        ['wrong', code],
        [PASSWORD, usedCode],
        [PASSWORD, undefined],
      ] as const)
        expect(await change(owner, { present, totp }), `${present} ${totp}`).to.deep.equal({
          kind: 'refused',
        });
      expect((await people.ownerOf(token))?.sessionId).to.equal(owner.sessionId);
      expect((await change(owner, { totp: code })).kind).to.equal('changed');
      people.nextStep();
      expect(await loginKind(NEXT, careful)).to.equal('signed-in');
    });

    it('counts wrong guesses like logins, and those that could not be set not at all', async () => {
      const { owner } = await people.signIn(person);
      for (const password of ['short', 'Password1234', person.email, PASSWORD])
        expect(await outcomeOf(change(owner, { password })), password).to.equal('INVALID');
      const kinds = [];
      for (let index = 0; index < 11; index += 1)
        kinds.push((await change(owner, { present: `guess ${index}`, site: AWAY })).kind);
      expect(tally(kinds, 'refused')).to.equal(10);
      expect((await change(owner, { site: AWAY })).kind).to.equal('throttled');
      const login = { email: person.email, password: PASSWORD, site: AWAY };
      expect((await people.login(login)).kind).to.equal('throttled');
      expect((await change(owner)).kind, 'at home').to.equal('changed');
    });

    it('is made by one of two tabs, and by neither once the sign-in has ended', async () => {
      const { owner } = await people.signIn(person);
      const wanted = [`${NEXT} one`, `${NEXT} two`];
      const tabs = wanted.map(async (password) => (await change(owner, { password })).kind);
      expect((await Promise.all(tabs)).sort()).to.deep.equal(['changed', 'refused']);
      const set = (await Promise.all(wanted.map((one) => loginKind(one)))).indexOf('signed-in');
      await people.sql('delete from sessions where id = ?', [owner.sessionId]);
      expect(await outcomeOf(change(owner, { present: wanted[set] }))).to.equal('STEP_UP_REQUIRED');
      expect(await loginKind(wanted[set] ?? ''), 'nothing changed').to.equal('signed-in');
    });
  });

  describe('the own authenticator app', () => {
    const begin = (owner: SessionOwner) => people.inTx((em) => beginTotp(em, people.as(owner), owner));
    const confirm = async (owner: SessionOwner, code: string, site = HOME, deps = people.as(owner)) => {
      const counted = await countTry(deps, owner, site);
      if (counted.kind !== 'counted') return counted;
      return await people.inTx((em) => confirmTotp(em, deps, owner, { code, counted }));
    };
    const end = (owner: SessionOwner) => people.inTx((em) => endOwnTotp(em, people.as(owner), owner));
    const loginKind = async (totp?: string, { email } = person) =>
      (await people.login({ email, password: PASSWORD, totp, site: HOME })).kind;
    const wrongFor = (secret: string): string => {
      const near = [-1, 0, 1].map((steps) => people.codeOf(secret, steps));
      return ['000000', '111111', '222222', '333333'].find((code) => !near.includes(code)) ?? '';
    };

    it('counts once a code of it was given, and then ends every other sign-in and this one’s step-up', async () => {
      const other = await people.signIn(person);
      const { owner } = await people.steppedUp(person);
      const { secret } = await begin(owner);
      expect(await loginKind()).to.equal('signed-in');
      const code = people.codeOf(secret);
      const done = await confirm(owner, code);
      if (done.kind !== 'confirmed') throw new Error(done.kind);
      const without = [await loginKind(), await loginKind(code)];
      expect(without, 'without a code, and with a used one').to.deep.equal(['refused', 'refused']);
      expect(await people.ownerOf(other.token)).to.equal(undefined);
      expect(await people.ownerOf(done.token)).to.deep.equal({ ...owner, steppedUpAt: null });
      expect(await steppedUpUntil(people.deps, owner)).to.equal(undefined);
      expect(await outcomeOf(end(owner))).to.equal('STEP_UP_REQUIRED');
      expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('refused');
      people.nextStep();
      expect(await loginKind(people.codeOf(secret))).to.equal('signed-in');
    });

    it('is refused for a code that is not of the new secret, and those are counted like logins', async () => {
      const careful = await people.newPerson(merchantId, { totp: true });
      const { owner } = await people.steppedUp(careful);
      const { secret } = await begin(owner);
      people.nextStep();
      expect(await confirm(owner, people.codeOf(careful.secret), AWAY)).to.deep.equal({ kind: 'refused' });
      const kinds = [];
      for (let index = 0; index < 10; index += 1)
        kinds.push((await confirm(owner, wrongFor(secret), AWAY)).kind);
      expect(kinds).to.deep.equal([...Array(9).fill('refused'), 'throttled']);
      expect((await confirm(owner, people.codeOf(secret), AWAY)).kind).to.equal('throttled');
      expect((await confirm(owner, people.codeOf(secret))).kind).to.equal('confirmed');
      people.nextStep();
      const codes = [people.codeOf(careful.secret), people.codeOf(secret)];
      expect(await loginKind(codes[0], careful), 'the old app').to.equal('refused');
      expect(await loginKind(codes[1], careful), 'the new app').to.equal('signed-in');
    });

    it('waits ten minutes for its code, sealed, and takes the place of one that waited before', async () => {
      const { owner } = await people.steppedUp(person);
      const [first, second] = [await begin(owner), await begin(owner)];
      expect(await pendingTotp(people.deps, owner)).to.deep.equal(second);
      expect((await confirm(owner, people.codeOf(first.secret))).kind).to.equal('refused');
      const tables = ['sessions', 'users', 'operator_actions'].map((name) =>
        people.sql(`select * from ${name}`),
      );
      const stored = JSON.stringify(await Promise.all(tables));
      for (const { secret } of [first, second])
        for (const text of [secret, JSON.stringify([...Buffer.from(secret)]).slice(1, -1)])
          expect(stored).to.not.contain(text);
      people.clock.ms += 10 * MINUTE - 1;
      const later = await people.steppedUpAgain(owner);
      expect(await pendingTotp(people.deps, later)).to.deep.equal(second);
      people.clock.ms += 1;
      expect(await pendingTotp(people.deps, later)).to.equal(undefined);
      expect(await confirm(later, people.codeOf(second.secret))).to.deep.equal({ kind: 'none' });
      expect(await loginKind()).to.equal('signed-in');
    });

    it('is shown and confirmed only by the sign-in that began', async () => {
      const { owner } = await people.steppedUp(person);
      const other = await people.steppedUp(person);
      const { secret } = await begin(owner);
      expect(await pendingTotp(people.deps, other.owner)).to.equal(undefined);
      expect(await confirm(other.owner, people.codeOf(secret))).to.deep.equal({ kind: 'none' });
    });

    it('is begun, confirmed and ended by nobody who has a session and no password, at nobody’s cost', async () => {
      const { owner } = await people.signIn(person);
      for (let index = 0; index < 11; index += 1)
        for (const work of [() => begin(owner), () => confirm(owner, '123456'), () => end(owner)])
          expect(await outcomeOf(work())).to.equal('STEP_UP_REQUIRED');
      expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('stepped-up');
    });

    it('is confirmed by one of several tabs, ended after a step-up, and both are written down', async () => {
      const { owner } = await people.steppedUp(person);
      const { secret } = await begin(owner);
      const code = people.codeOf(secret);
      const tabs = await Promise.all(
        Array.from({ length: 4 }, () =>
          confirm(owner, code).then(
            ({ kind }) => kind as string,
            (error: Error) => error.name,
          ),
        ),
      );
      expect(tally(tabs, 'confirmed'), tabs.join()).to.equal(1);
      people.nextStep();
      const again = await people.steppedUpAgain(owner, people.codeOf(secret));
      const { token } = await end(again);
      expect(await people.ownerOf(token)).to.deep.equal({ ...owner, steppedUpAt: null });
      expect(await loginKind()).to.equal('signed-in');
      expect(await outcomeOf(end(await people.steppedUpAgain(owner))), 'none').to.equal('NOT_FOUND');
      const row = { action: 'user.totp', user_id: person.id, origin: HOME };
      expect(await rowsOf('user.totp')).to.have.deep.members([
        { ...row, before: { totp: false }, after: { totp: true } },
        { ...row, before: { totp: true }, after: { totp: false } },
      ]);
    });
  });
});
