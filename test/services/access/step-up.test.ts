import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { SessionOwner } from '../../../src/services/access/sessions.ts';
import { endOwnSession } from '../../../src/services/access/signed-in/own-sessions.ts';
import { countTry, requireStepUp, steppedUpUntil } from '../../../src/services/access/signed-in/step-up.ts';
import { HOME, MINUTE, outcomeOf, PASSWORD, type People, type Person, startPeople } from './people.ts';

const AWAY = '198.51.100.7';

describe('a step-up', function () {
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

  /** What a change of this sign-in comes to. */
  const change = (owner: SessionOwner): Promise<string> =>
    outcomeOf(people.inTx((em) => requireStepUp(em, people.deps, owner)));
  const kindOf = async (work: Promise<{ readonly kind: string }>): Promise<string> => (await work).kind;
  const prove = async (owner: SessionOwner) => {
    const done = await people.stepUp(owner, { password: PASSWORD, site: HOME });
    if (done.kind !== 'stepped-up') throw new Error(done.kind);
    return done;
  };
  const tally = (kinds: readonly string[], kind: string): number =>
    kinds.filter((one) => one === kind).length;

  it('lets this sign-in change things for ten minutes, and no other sign-in or user', async () => {
    const other = await people.signIn(person);
    const stranger = await people.newPerson(merchantId);
    const { owner } = await people.signIn(person);
    expect([await change(owner), await steppedUpUntil(people.deps, owner)]).to.deep.equal([
      'STEP_UP_REQUIRED',
      undefined,
    ]);
    const done = await prove(owner);
    const until = new Date(people.clock.ms + 10 * MINUTE);
    expect(done.until).to.deep.equal(until);
    expect(await change(done.owner)).to.equal('done');
    for (const nobody of [other.owner, { ...done.owner, userId: stranger.id }])
      expect([await change(nobody), await steppedUpUntil(people.deps, nobody)]).to.deep.equal([
        'STEP_UP_REQUIRED',
        undefined,
      ]);
    expect(await steppedUpUntil(people.deps, done.owner)).to.deep.equal(until);
    people.clock.ms += 10 * MINUTE - 1;
    expect(await change(done.owner)).to.equal('done');
    people.clock.ms += 1;
    expect(await change(done.owner)).to.equal('STEP_UP_REQUIRED');
  });

  it('is refused with one answer for everything that is wrong, and each code is good for one', async () => {
    const careful = await people.newPerson(merchantId, { totp: true });
    const { owner } = await people.signIn(careful);
    const used = people.codeOf(careful.secret);
    const tryOf = (password: string, totp?: string) => people.stepUp(owner, { password, totp, site: HOME });
    expect(await tryOf(PASSWORD, used), 'the code of the login').to.deep.equal({ kind: 'refused' });
    people.nextStep();
    const code = people.codeOf(careful.secret);
    const wrong = code === '000000' ? '000001' : '000000';
    for (const [password, totp] of [
      ['wrong', code],
      ['wrong', wrong],
      [PASSWORD, wrong],
      [PASSWORD, undefined],
      [PASSWORD, ''],
    ] as const)
      expect(await tryOf(password, totp), `${password} ${totp}`).to.deep.equal({ kind: 'refused' });
    expect(await change(owner)).to.equal('STEP_UP_REQUIRED');
    const tabs = await Promise.all([1, 2, 3].map(() => kindOf(tryOf(PASSWORD, code))));
    expect(tally(tabs, 'stepped-up'), tabs.join()).to.equal(1);
    const login = { email: careful.email, password: PASSWORD, totp: code, site: HOME };
    expect(await people.login(login), 'a login with that code').to.deep.equal({ kind: 'refused' });
  });

  it('spends the budgets of a login: whoever has a session has not one guess more', async () => {
    const { owner } = await people.signIn(person);
    const login = (password: string, site: string) =>
      kindOf(people.login({ email: person.email, password, site }));
    const guess = (password: string, site: string) => kindOf(people.stepUp(owner, { password, site }));
    const guesses = [];
    for (let index = 0; index < 20; index += 1) {
      const site = `192.0.2.${index}`;
      guesses.push(index % 2 ? await login(`guess ${index}`, site) : await guess(`guess ${index}`, site));
    }
    expect(tally(guesses, 'refused'), guesses.join()).to.equal(20);
    expect([await guess(PASSWORD, '192.0.2.77'), await login(PASSWORD, '192.0.2.78')]).to.deep.equal([
      'throttled',
      'throttled',
    ]);
    expect(await guess(PASSWORD, HOME), 'at home the owner has a budget of their own').to.equal('stepped-up');
  });

  it('looks at no more passwords than a login would, however many are tried at the same moment', async () => {
    const { owner } = await people.signIn(person);
    const tries = Array.from({ length: 30 }, (_, index) =>
      kindOf(people.stepUp(owner, { password: `guess ${index}`, site: AWAY })),
    );
    const kinds = await Promise.all(tries);
    expect(tally(kinds, 'refused'), kinds.join()).to.be.within(1, 10);
    expect(tally(kinds, 'throttled')).to.equal(30 - tally(kinds, 'refused'));
  });

  it('gives the session another token: a copy of the former one opens nothing, and what it let in before has no step-up', async () => {
    const { owner: early, token: stolen } = await people.signIn(person);
    const done = await prove(early);
    expect(await people.ownerOf(done.token)).to.deep.equal(done.owner);
    expect([await change(done.owner), done.owner.steppedUpAt]).to.deep.equal(['done', people.deps.now()]);
    expect(await people.ownerOf(stolen)).to.equal(undefined);
    expect([await change(early), await steppedUpUntil(people.deps, early)]).to.deep.equal([
      'STEP_UP_REQUIRED',
      undefined,
    ]);
    expect(await outcomeOf(countTry(people.deps, early, HOME))).to.equal('STEP_UP_REQUIRED');
    expect(JSON.stringify(await people.sql('select * from sessions'))).to.not.contain(done.token);
  });

  it('of a session that ended while it was made leaves no trace, and does not use up the code', async () => {
    const careful = await people.newPerson(merchantId, { totp: true });
    const { owner } = await people.signIn(careful);
    people.nextStep();
    const proof = { password: PASSWORD, totp: people.codeOf(careful.secret), site: HOME };
    await endOwnSession(people.deps, owner, owner.sessionId);
    expect(await outcomeOf(people.stepUp(owner, proof))).to.equal('STEP_UP_REQUIRED');
    expect((await people.login({ email: careful.email, ...proof })).kind).to.equal('signed-in');
  });

  /** The other transaction has come as far as it can. */
  const untilOneWaits = () =>
    eventually('a wait for a lock', async () => {
      const waiting = await people.sql(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return waiting.length > 0;
    });

  it('refuses the change that waited while its session ended', async () => {
    const { owner } = await people.steppedUp(person);
    let late: Promise<string> = Promise.resolve('');
    await people.inTx(async (em) => {
      await em.execute('delete from sessions where id = ?', [owner.sessionId]);
      late = change(owner);
      await untilOneWaits();
    });
    expect(await late).to.equal('STEP_UP_REQUIRED');
  });
});
