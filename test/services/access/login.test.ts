import { randomBytes } from 'node:crypto';
import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { createWaitingLine } from '../../../src/base/async/waiting-line.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { createLogin, type LoginInput } from '../../../src/services/access/login.ts';
import { PASSWORD_COST } from '../../../src/services/access/passwords.ts';
import { createUser, disableTotp, enableTotp, resetPassword } from '../../../src/services/access/users.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { testDeps } from '../../support/gateway.ts';

const PASSWORD = 'correct horse battery';

describe('users', function () {
  this.timeout(20_000);
  let database: FreshDatabase;
  let deps: Deps;
  let merchantId: string;
  let count = 0;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, []);
    merchantId = (await createMerchant(deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  });
  after(async () => {
    await deps.orm.close(true);
    await database.drop();
  });

  const newUser = async () => {
    count += 1;
    const email = `user${count}@example.com`;
    return { email, ...(await createUser(deps, { merchantId, email, password: PASSWORD })) };
  };
  const storedOf = async (email: string) => {
    const [row] = await deps.orm.em
      .fork()
      .execute<{ password_hash: string; totp_sealed: Buffer | null }[]>(
        'select password_hash, totp_sealed from users where email = ?',
        [email],
      );
    if (!row) throw new Error(`no user ${email}`);
    return row;
  };
  const input = (email: string, more: Partial<LoginInput> = {}): LoginInput => ({
    email,
    password: PASSWORD,
    site: '203.0.113.9',
    ...more,
  });

  const saidOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: Error) => error.message,
    );

  it('get a stronger hash at the first login after the cost has risen, and only with the right password', async () => {
    const user = await newUser();
    const old = await hash(PASSWORD, { ...PASSWORD_COST, memoryCost: 8_192 });
    await deps.orm.em.fork().execute('update users set password_hash = ? where email = ?', [old, user.email]);
    const login = createLogin(deps);
    expect((await login(input(user.email, { password: 'wrong' }))).kind).to.equal('refused');
    expect((await storedOf(user.email)).password_hash).to.equal(old);
    expect((await login(input(user.email))).kind).to.equal('signed-in');
    const renewed = (await storedOf(user.email)).password_hash;
    expect(renewed).to.contain(`m=${PASSWORD_COST.memoryCost},`);
    expect((await login(input(user.email))).kind).to.equal('signed-in');
    expect((await storedOf(user.email)).password_hash, 'hashed once').to.equal(renewed);
  });

  it('have one email each, of which case and space do not count, under any number of simultaneous creations', async () => {
    const spellings = ['Twice@Example.com', ' twice@example.com', 'TWICE@EXAMPLE.COM', 'twice@example.com '];
    const outcomes = await Promise.all(
      spellings.map((email) => saidOf(createUser(deps, { merchantId, email, password: PASSWORD }))),
    );
    expect(outcomes.filter((outcome) => outcome === 'done')).to.have.length(1);
    for (const outcome of outcomes.filter((text) => text !== 'done'))
      expect(outcome).to.match(/^There is a user twice@example\.com already/);
    expect((await createLogin(deps)(input('tWiCe@example.com'))).kind).to.equal('signed-in');
  });

  it('have a sealed secret that opens for nobody else', async () => {
    const [one, two] = [await newUser(), await newUser()];
    const { secret } = await enableTotp(deps, one);
    const sealed = (await storedOf(one.email)).totp_sealed;
    expect(deps.secretBox.open(sealed ?? Buffer.alloc(0), one.userId)).to.equal(secret);
    expect(() => deps.secretBox.open(sealed ?? Buffer.alloc(0), two.userId)).to.throw();
    await disableTotp(deps, one);
    expect((await storedOf(one.email)).totp_sealed).to.equal(null);
    expect((await createLogin(deps)(input(one.email))).kind).to.equal('signed-in');
  });

  it('are known nowhere any more once they have a new password: what a thief signed in from is strange again', async () => {
    const { email, userId } = await newUser();
    await createLogin(deps)(input(email, { site: '203.0.113.77' }));
    const sites = () =>
      deps.orm.em.fork().execute<unknown[]>('select site from user_sites where user_id = ?', [userId]);
    expect(await sites()).to.have.length(1);
    await resetPassword(deps, { email, password: `${PASSWORD} anew` });
    expect(await sites()).to.deep.equal([]);
  });

  it('are not let in while their code cannot be checked', async () => {
    const user = await newUser();
    await enableTotp(deps, user);
    const other = createLogin({ ...deps, secretBox: createSecretBox(randomBytes(32)) });
    const outcome = await other(input(user.email, { totp: '123456' })).then(
      (result) => result.kind,
      (error: Error) => error.name,
    );
    expect(outcome).to.equal('SecretBoxError');
  });

  it('hash no more passwords at once than the line lets in: the rest is refused at once, by caller and by number', async () => {
    const places = { placesKept: 0, placesOfKey: 1, placesOfKnownKey: 1 };
    const line = createWaitingLine({ running: 1, places: 3, ...places, waitMs: 600_000 });
    const login = createLogin(deps, { line });
    const outcome = (site: string) =>
      login(input('nobody@example.com', { site })).then(
        (result) => result.kind,
        (error: Error) => error.name,
      );
    const held = Promise.withResolvers<void>();
    const hashing = line({ key: 'somebody', known: false }, () => held.promise);
    // Of two of the same network, and of two of others, one waits and one is sent away.
    const ofOne = [outcome('203.0.113.51'), outcome('203.0.113.51')];
    expect(await Promise.race(ofOne)).to.equal('throttled');
    const others = [outcome('203.0.114.51'), outcome('203.0.115.51')];
    expect(await Promise.race(others)).to.equal('LineIsFull');
    held.resolve();
    await hashing;
    expect((await Promise.all(ofOne)).sort()).to.deep.equal(['refused', 'throttled']);
    expect((await Promise.all(others)).sort()).to.deep.equal(['LineIsFull', 'refused']);
    expect(await outcome('203.0.116.51'), 'afterwards').to.equal('refused');
  });
});
