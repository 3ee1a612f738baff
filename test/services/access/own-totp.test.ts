import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import type { SessionOwner } from '../../../src/services/access/sessions.ts';
import {
  beginTotp,
  confirmTotp,
  endOwnTotp,
  pendingTotp,
} from '../../../src/services/access/signed-in/own-totp.ts';
import { countTry, steppedUpUntil } from '../../../src/services/access/signed-in/step-up.ts';
import { HOME, MINUTE, outcomeOf, PASSWORD, type People, type Person, startPeople } from './people.ts';

describe('the own authenticator app', function () {
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

  it('counts once a code of it was given: until then the user signs in as before', async () => {
    const { owner } = await people.steppedUp(person);
    const { secret, uri } = await begin(owner);
    expect(uri).to.contain(secret).and.contain(encodeURIComponent(person.email));
    expect(await loginKind()).to.equal('signed-in');
    const code = people.codeOf(secret);
    expect((await confirm(owner, code)).kind).to.equal('confirmed');
    expect([await loginKind(), await loginKind(code)], 'without a code, and with a used one').to.deep.equal([
      'refused',
      'refused',
    ]);
    people.nextStep();
    expect(await loginKind(people.codeOf(secret))).to.equal('signed-in');
  });

  it('ends every other sign-in and this one’s step-up, and gives this one another token', async () => {
    const other = await people.signIn(person);
    const { owner, token: former } = await people.steppedUp(person);
    const { secret } = await begin(owner);
    const done = await confirm(owner, people.codeOf(secret));
    if (done.kind !== 'confirmed') throw new Error(done.kind);
    expect(await people.ownerOf(other.token)).to.equal(undefined);
    expect((await people.ownerOf(former))?.isFormer, 'for requests under way').to.equal(true);
    expect(await people.ownerOf(done.token)).to.deep.equal({ ...owner, steppedUpAt: null });
    expect(await steppedUpUntil(people.deps, owner)).to.equal(undefined);
    expect(await outcomeOf(end(owner))).to.equal('STEP_UP_REQUIRED');
    expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind, 'no code').to.equal(
      'refused',
    );
  });

  it('is refused for a code that is not of the new secret, and those are counted like logins', async () => {
    const careful = await people.newPerson(merchantId, { totp: true });
    const { owner } = await people.steppedUp(careful, '198.51.100.9');
    const { secret } = await begin(owner);
    people.nextStep();
    expect(await confirm(owner, people.codeOf(careful.secret), '198.51.100.10')).to.deep.equal({
      kind: 'refused',
    });
    const kinds = [];
    for (let index = 0; index < 10; index += 1)
      kinds.push((await confirm(owner, wrongFor(secret), '198.51.100.10')).kind);
    expect(kinds).to.deep.equal([...Array.from({ length: 9 }, () => 'refused'), 'throttled']);
    expect((await confirm(owner, people.codeOf(secret), '198.51.100.10')).kind).to.equal('throttled');
    expect((await confirm(owner, people.codeOf(secret), '198.51.100.9')).kind).to.equal('confirmed');
    people.nextStep();
    expect(await loginKind(people.codeOf(careful.secret), careful), 'the old app').to.equal('refused');
    expect(await loginKind(people.codeOf(secret), careful), 'the new app').to.equal('signed-in');
  });

  it('waits ten minutes for its code, sealed, and takes the place of one that waited before', async () => {
    const { owner } = await people.steppedUp(person);
    const first = await begin(owner);
    const second = await begin(owner);
    expect(await pendingTotp(people.deps, owner)).to.deep.equal(second);
    expect((await confirm(owner, people.codeOf(first.secret))).kind).to.equal('refused');
    const stored = JSON.stringify([
      await people.sql('select * from sessions'),
      await people.sql('select * from users'),
    ]);
    for (const { secret } of [first, second]) {
      expect(stored).to.not.contain(secret);
      expect(stored).to.not.contain(JSON.stringify([...Buffer.from(secret)]).slice(1, -1));
    }
    people.clock.ms += 10 * MINUTE - 1;
    const later = await people.steppedUpAgain(owner);
    expect(await pendingTotp(people.deps, later)).to.deep.equal(second);
    people.clock.ms += 1;
    expect(await pendingTotp(people.deps, later)).to.equal(undefined);
    expect(await confirm(later, people.codeOf(second.secret))).to.deep.equal({ kind: 'none' });
    expect(await loginKind()).to.equal('signed-in');
  });

  it('is shown and confirmed only by the sign-in that began, and only while it is stepped up', async () => {
    const { owner } = await people.steppedUp(person);
    const other = await people.steppedUp(person);
    const { secret } = await begin(owner);
    expect(await pendingTotp(people.deps, other.owner)).to.equal(undefined);
    expect(await confirm(other.owner, people.codeOf(secret))).to.deep.equal({ kind: 'none' });
    people.clock.ms += 5 * MINUTE;
    const later = await begin(owner);
    people.clock.ms += 5 * MINUTE;
    expect(await pendingTotp(people.deps, owner)).to.equal(undefined);
    expect(await outcomeOf(confirm(owner, people.codeOf(later.secret)))).to.equal('STEP_UP_REQUIRED');
    const again = await people.steppedUpAgain(owner);
    expect((await confirm(again, people.codeOf(later.secret))).kind).to.equal('confirmed');
  });

  it('is begun, confirmed and ended by nobody who has a session and no password, at nobody’s cost', async () => {
    const { owner } = await people.signIn(person);
    expect(await pendingTotp(people.deps, owner)).to.equal(undefined);
    for (let index = 0; index < 25; index += 1)
      for (const work of [() => begin(owner), () => confirm(owner, '123456'), () => end(owner)])
        expect(await outcomeOf(work())).to.equal('STEP_UP_REQUIRED');
    expect((await people.stepUp(owner, { password: PASSWORD, site: HOME })).kind).to.equal('stepped-up');
  });

  it('is confirmed by one of several tabs', async () => {
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
    expect(
      tabs.filter((kind) => kind === 'confirmed'),
      tabs.join(),
    ).to.have.length(1);
  });

  it('is ended after a step-up, and asked for no more', async () => {
    const careful = await people.newPerson(merchantId, { totp: true });
    const other = await people.signIn(careful);
    const { owner } = await people.steppedUp(careful);
    const { token } = await end(owner);
    expect(await people.ownerOf(token)).to.deep.equal({ ...owner, steppedUpAt: null });
    expect(await people.ownerOf(other.token)).to.equal(undefined);
    expect(await loginKind(undefined, careful)).to.equal('signed-in');
    const again = await people.steppedUpAgain(owner);
    expect(await outcomeOf(end(again)), 'where none is').to.equal('NOT_FOUND');
  });

  it('leaves rows that say what is so now, and no secret', async () => {
    const { owner } = await people.steppedUp(person);
    const { secret } = await begin(owner);
    await confirm(owner, people.codeOf(secret));
    people.nextStep();
    await end(await people.steppedUpAgain(owner, people.codeOf(secret)));
    const rows = await people.sql(
      'select action, user_id, origin, before, after from operator_actions where subject = ? and user_id is not null order by at, id',
      [person.id],
    );
    const row = { action: 'user.totp', user_id: person.id, origin: HOME };
    expect(rows).to.have.deep.members([
      { ...row, before: { totp: false }, after: { totp: true } },
      { ...row, before: { totp: true }, after: { totp: false } },
    ]);
    expect(JSON.stringify(await people.sql('select * from operator_actions'))).to.not.contain(secret);
  });

  it('is begun again where the key that sealed it is gone', async () => {
    const { owner } = await people.steppedUp(person);
    const { secret } = await begin(owner);
    const renewed = { ...people.as(owner), secretBox: createSecretBox(randomBytes(32)) };
    expect(await pendingTotp(renewed, owner)).to.equal(undefined);
    expect(await confirm(owner, people.codeOf(secret), HOME, renewed)).to.deep.equal({ kind: 'none' });
  });
});
