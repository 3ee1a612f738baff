import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { createSecretBox } from '../../src/base/secret-box.ts';
import { call, startTestApi, type TestApi } from '../support/gateway.ts';
import { cookieOf, postLogin } from '../support/sign-in.ts';
import { answer, type Env, gateway, sideBySide } from './support.ts';

const EMAIL = 'Owner@Shop.example';
const PASSWORD = 'correct horse battery';
const SECRETS_KEY = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString('base64');

describe('command line: an operator lets people sign in', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let api: TestApi;
  let env: Env;
  before(async () => {
    database = await migratedDatabase();
    const secretBox = createSecretBox(Buffer.from(SECRETS_KEY, 'base64'));
    api = await startTestApi({ databaseUrl: database.url, deps: { secretBox } });
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('users'), SECRETS_KEY };
  });
  after(async () => {
    await api.stop();
    await database.drop();
  });

  const create = (...more: string[]) => [
    'user',
    'create',
    '--merchant',
    api.merchant.id,
    '--email',
    EMAIL,
    ...more,
  ];
  const login = (password: string, totp?: string) =>
    postLogin(api, { email: EMAIL, password }, totp === undefined ? {} : { totp });

  it('makes a user with the password of stdin, resets it, asks for codes and lists', async () => {
    const { user_id: id } = await answer<{ user_id: string }>(create(), env, `${PASSWORD}\n`);
    expect(id).to.match(/^[0-9a-f-]{36}$/);
    const signedIn = await login(PASSWORD);
    expect(signedIn.body).to.deep.equal({ user_id: id, merchant_id: api.merchant.id });

    const reset = ['user', 'reset-password', '--email', EMAIL.toUpperCase()];
    expect(await answer(reset, env, 'another horse battery\r\n')).to.deep.equal({ user_id: id });
    const old = await call(`${api.url}/customers`, { headers: { Cookie: cookieOf(signedIn) } });
    expect(old.status, 'the old session').to.equal(401);
    expect((await login(PASSWORD)).status).to.equal(401);
    expect((await login('another horse battery')).status).to.equal(200);

    const totp = await answer<{ uri: string; secret: string }>(['user', 'totp', '--email', EMAIL], env);
    expect(Object.keys(totp)).to.have.members(['uri', 'secret']);
    expect(totp.uri).to.match(/^otpauth:\/\/totp\//);
    expect((await login('another horse battery')).status).to.equal(401);
    expect(
      (await login('another horse battery', new TOTP({ secret: totp.secret }).generate())).status,
    ).to.equal(200);

    const { users } = await answer<{ users: Record<string, unknown>[] }>(
      ['list', 'users', '--merchant', api.merchant.id],
      env,
    );
    expect(users).to.have.length(1);
    expect(users[0]).to.include({ id, email: EMAIL.toLowerCase(), merchant_id: api.merchant.id, totp: true });
    expect(users[0]?.['last_login_at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

    expect(await answer(['user', 'totp', '--email', EMAIL, '--disable'], env)).to.deep.equal({
      user_id: id,
      totp: false,
    });
    expect((await login('another horse battery')).status).to.equal(200);
  });

  it('hands out a link where no password comes on stdin, once for each time, and the newest alone is good', async () => {
    type Linked = { user_id: string; link: string; link_expires_at: string };
    const email = 'linked@shop.example';
    const made = await answer<Linked>(
      ['user', 'create', '--merchant', api.merchant.id, '--email', email],
      env,
    );
    expect(Object.keys(made)).to.deep.equal(['user_id', 'link', 'link_expires_at']);
    expect(made.link).to.match(/^http:\/\/localhost:8080\/set-password#[A-Za-z0-9]{43}$/);
    expect(Date.parse(made.link_expires_at)).to.be.above(Date.now() + 23 * 3_600_000);
    const set = (link: string, password: string) =>
      call(`${api.origin}/set-password`, { body: { code: link, password } });
    expect((await set(made.link, PASSWORD)).body).to.deep.equal({ user_id: made.user_id });
    expect((await postLogin(api, { email, password: PASSWORD })).status).to.equal(200);

    const named = { ...env, PUBLIC_URL: 'https://pay.shop.example/base/' };
    const first = await answer<Linked>(['user', 'reset-password', '--email', email], named);
    expect(first.link).to.match(/^https:\/\/pay\.shop\.example\/base\/set-password#[A-Za-z0-9]{43}$/);
    expect((await postLogin(api, { email, password: PASSWORD })).status, 'the old password').to.equal(401);
    const ran = await gateway(['user', 'reset-password', '--email', email, '--by', 'ann'], env);
    expect(ran.stdout.replaceAll(/\s+/g, ' ')).to.match(
      /^User [0-9a-f-]{36} signs in once this link .* once, until \S+Z, and is shown this once: /,
    );
    const [, link = ''] = /\n(http\S+)\n$/.exec(ran.stdout) ?? [];
    expect([ran.code, ran.stderr]).to.deep.equal([0, '']);
    expect((await set(first.link, 'another horse battery')).status, 'the replaced one').to.equal(401);
    expect((await set(link, 'another horse battery')).status).to.equal(200);
    expect((await postLogin(api, { email, password: 'another horse battery' })).status).to.equal(200);

    const { actions } = await answer<{ actions: { action: string; by: string; subject: string }[] }>(
      ['audit', 'list', '--limit', '2'],
      env,
    );
    expect(actions.map(({ action, by, subject }) => [action, by, subject])).to.deep.equal([
      ['user.set-password', email, made.user_id],
      ['user.reset-password', 'ann', made.user_id],
    ]);
    const shown = await gateway(['audit', 'list'], env);
    for (const one of [made.link, first.link, link]) expect(shown.stdout).to.not.contain(one.split('#')[1]);
  });

  it('refuses with one sentence and no password: taken, too short, too long, no way for a link, no key', async () => {
    const make = (email: string) => ['user', 'create', '--merchant', api.merchant.id, '--email', email];
    const production = { ...env, NODE_ENV: 'production', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const refused: [string[], string, RegExp, Env?][] = [
      [create(), PASSWORD, /^There is a user owner@shop\.example already\. .*"user reset-password"\.\n$/],
      [make('a@b'), 'too short', /^The password must have at least 12 characters\.\n$/],
      [make('a@b'), '\n', /^The password must have at least 12 characters\.\n$/],
      [make('a@b'), 'x'.repeat(10_000), /^This is too long to be a password\. .*\.\n$/],
      [make('a@b'), '', /^PUBLIC_URL is not set, .* password on stdin\.\n$/, production],
      [
        ['user', 'totp', '--email', EMAIL],
        '',
        /^SECRETS_KEY is not set\./,
        { ...production, SECRETS_KEY: '' },
      ],
    ];
    await sideBySide(refused, async ([args, input, sentence, place = env]) => {
      const ran = await gateway(args, place, input);
      expect([ran.code, ran.stdout], args.join(' ')).to.deep.equal([1, '']);
      expect(ran.stderr).to.match(sentence);
      if (input.trim() !== '') expect(ran.stderr).to.not.contain(input);
    });
    const { users } = await answer<{ users: { email: string }[] }>(['list', 'users'], env);
    expect(users.map((user) => user.email)).to.not.contain('a@b');
  });
});
