import { expect } from 'chai';
import { startTestChain } from '../../dev/support/chain.ts';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { answer, type Env, gateway, oneObject, sideBySide } from './support.ts';

const ADDRESS = '0x52908400098527886E0F7030069857D2E4169EE7';
const UNKNOWN = '3e3c0ebf-d57e-4e7c-999a-d121996d8b80';
type Made = { merchant_id: string; keys: { live: string; test: string } };
type Checks = { ok: boolean; checks: { name: string; ok: boolean; detail: string; action: string | null }[] };

describe('command line: an operator sets up merchants', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  let made: Made;

  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
  });
  after(() => database.drop());

  it('says "gateway migrate" while the database is behind, and migrates once', async () => {
    const doctor = await gateway(['doctor', '--json'], env);
    const report = oneObject<Checks>(doctor.stdout);
    expect(doctor.code).to.equal(1);
    expect(report.ok).to.equal(false);
    expect(report.checks.filter((check) => !check.ok && check.name !== 'payments')).to.deep.equal([
      {
        name: 'schema',
        ok: false,
        detail: `the database is behind: ${MIGRATIONS.length} of ${MIGRATIONS.length} migrations are missing`,
        action: 'Run "gateway migrate"',
      },
    ]);

    const refused = await gateway(['merchant', 'list'], env);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/^The database is behind.*"gateway migrate".*\.\n$/);

    expect(await answer(['migrate'], env)).to.deep.equal({
      applied: MIGRATIONS.map((migration) => migration.name),
    });
    expect(await answer(['migrate'], env)).to.deep.equal({ applied: [] });
    // No chain is watched here, so that no live link could be paid.
    const after = oneObject<Checks>((await gateway(['doctor', '--json'], env)).stdout);
    const failing = after.checks.filter((check) => !check.ok);
    expect(failing.map(({ name, action }) => [name, action])).to.deep.equal([
      ['payments', 'Set BSC_RPC_URLS or TRON_API_URLS and restart every role'],
    ]);
  });

  it('makes, changes and lists a merchant', async () => {
    made = await answer<Made>(
      [
        'merchant',
        'create',
        '--name',
        ' Shop ',
        '--withdraw-bsc',
        ADDRESS,
        '--allow-contract',
        '--monthly-limit-usd',
        '1000.50',
      ],
      env,
    );
    expect(made.merchant_id).to.match(/^[0-9a-f-]{36}$/);
    expect(made.keys.live).to.match(/^sk_live_[0-9A-Za-z]{49}$/);
    expect(made.keys.test).to.match(/^sk_test_[0-9A-Za-z]{49}$/);

    const set = await answer(
      ['merchant', 'set', made.merchant_id, '--monthly-limit-usd', 'none', '--withdraw-bsc', 'none'],
      env,
    );
    expect(set).to.include({
      name: 'Shop',
      monthly_limit_usd: null,
      withdraw_bsc: null,
      subscription: 'active',
    });
    const closed = await answer<Made>(['merchant', 'create', '--name', 'Closed', '--no-subscription'], env);
    const { merchants } = await answer<{ merchants: { id: string; subscription: string }[] }>(
      ['merchant', 'list'],
      env,
    );
    expect(merchants.map(({ id, subscription }) => [id, subscription])).to.deep.equal([
      [made.merchant_id, 'active'],
      [closed.merchant_id, 'inactive'],
    ]);
    const shown = await gateway(['merchant', 'list'], env);
    expect(shown.stdout.split('\n')[1]).to.match(new RegExp(`^${made.merchant_id}  Shop +active`));
  });

  it('opens and closes a subscription', async () => {
    const until = '2099-01-31T10:00:00Z';
    expect(
      await answer(['subscription', 'set', made.merchant_id, 'active', '--until', until], env),
    ).to.deep.equal({
      merchant_id: made.merchant_id,
      subscription: 'active',
      until,
    });
    expect(await answer(['subscription', 'set', made.merchant_id, 'inactive'], env)).to.include({
      subscription: 'inactive',
      until: null,
    });
  });

  it('makes, rotates, revokes and lists keys', async () => {
    const first = await answer<{ id: string; key: string }>(
      ['key', 'create', '--merchant', made.merchant_id, '--mode', 'test'],
      env,
    );
    expect(Object.keys(first)).to.deep.equal(['id', 'key']);
    const second = await answer<{ id: string; key: string }>(
      ['key', 'rotate', first.id, '--grace', '15m'],
      env,
    );
    expect(second.key)
      .to.match(/^sk_test_/)
      .and.not.equal(first.key);
    await answer(['key', 'revoke', second.id], env);
    const { keys } = await answer<{
      keys: { id: string; expires_at: string | null; revoked_at: string | null }[];
    }>(['key', 'list'], env);
    const graceMs = Date.parse(keys.find(({ id }) => id === first.id)?.expires_at ?? '') - Date.now();
    expect(graceMs).to.be.within(13 * 60_000, 15 * 60_000);
    expect(keys.find(({ id }) => id === second.id)?.revoked_at).to.be.a('string');
    expect(JSON.stringify(keys)).to.not.include(first.key);
  });

  it('refuses what it cannot do with one sentence and its next action', async () => {
    const refusals: [string[], RegExp][] = [
      [['merchant', 'set', UNKNOWN, '--name', 'x'], /"merchant list"/],
      [['merchant', 'set', 'no-uuid', '--name', 'x'], /"merchant list"/],
      [['merchant', 'create', '--name', 'x'.repeat(201)], /1 to 200 characters/],
      [['key', 'create', '--merchant', UNKNOWN, '--mode', 'live'], /"merchant list"/],
      [['key', 'revoke', "'; drop table api_keys; --"], /"key list"/],
      [['deposit', 'show', UNKNOWN], /"gateway deposit list"/],
      [
        ['deposit', 'show', 'TC7uYp36MKKr9vRHNVUnGW67dDatZbYT5S'],
        /TC7uYp36MKKr9vRHNVUnGW67dDatZbYT5S is no id.*"gateway find"/s,
      ],
      [['deposit', 'fail', UNKNOWN, '--by', 'a', '--reason', 'b'], /"gateway deposit list"/],
      [['deposit', 'release', 'x', '--by', 'a', '--reason', 'b'], /"gateway deposit list"/],
      [['webhook', 'resend', UNKNOWN], /"gateway webhook list"/],
      [['rescan', '--network', 'bsc', '--from', '1', '--to', '2'], /Set BSC_RPC_URLS/],
      [['rescan', '--network', 'tron', '--from', '1', '--to', '2'], /Set TRON_API_URLS and try again/],
      [['repair'], /Set TEMPORAL_ADDRESS/],
      [['replay'], /Set TEMPORAL_ADDRESS/],
      [['replay', '/nowhere/x.json'], /exported histories/],
    ];
    const before = await everything(env);
    await sideBySide(refusals, async ([args, action]) => {
      const ran = await gateway([...args, '--json'], env);
      expect([ran.code, args.join(' ')]).to.deep.equal([1, args.join(' ')]);
      const sentence = oneObject<{ error: string }>(ran.stdout).error;
      expect(sentence).to.match(action).and.match(/\.$/);
      expect(ran.stderr.trimEnd().split('\n').at(-1)).to.equal(sentence);
      expect(ran.stderr).to.not.match(/\n\s+at /);
    });
    expect(await everything(env)).to.deep.equal(before);
  });

  it('says which database does not answer, without its password', async () => {
    const ran = await gateway(['merchant', 'list'], {
      ...env,
      DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/x',
    });
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.match(
      /^The database does not answer: .*ECONNREFUSED.*Check DATABASE_URL and that PostgreSQL runs\.\n$/,
    );
    expect(ran.stderr + ran.stdout).to.not.include('hunter2');
  });

  it('refuses a database that does not exist instead of making it', async () => {
    const missing = new URL(database.url);
    missing.pathname = '/not_there';
    for (const command of ['migrate', 'doctor']) {
      const ran = await gateway([command], { ...env, DATABASE_URL: missing.href });
      expect(ran.code).to.equal(1);
      expect(ran.stderr + ran.stdout).to.match(/does not answer: .*"not_there" does not exist/);
    }
  });

  it('reports every problem of the configuration at once and prints no secret', async () => {
    const ran = await gateway(['config', 'check', '--json'], {
      ...env,
      PORT: '70000',
      BSC_CHAIN_ID: 'x',
      SECRETS_KEY: 'hush-hush',
      BSC_RPC_URL: 'https://hush-hush.example',
    });
    const report = oneObject<{
      ok: boolean;
      problems: string[];
      values: { name: string; value: string | null }[];
    }>(ran.stdout);
    expect([ran.code, report.ok, report.problems.length]).to.deep.equal([1, false, 4]);
    expect(report.problems.at(-1)).to.match(/^BSC_RPC_URL is not a variable .* did you mean BSC_RPC_URLS\?$/);
    expect(ran.stdout + ran.stderr)
      .to.not.include('hush-hush')
      .and.not.include(database.url);
    expect(report.values.find(({ name }) => name === 'DATABASE_URL')?.value).to.equal('(set, not shown)');
    const good = { ...env, WEBHOOK_ALLOWED_CIDR: '10.0.0.0/8', WEBHOOK_FOO_BAR: '1' };
    const told = await answer<{ ok: boolean; warnings: string[] }>(['config', 'check'], good);
    expect([told.ok, ...told.warnings.filter((one) => / is not a variable /.test(one))]).to.deep.equal([
      true,
      'WEBHOOK_ALLOWED_CIDR is not a variable of this gateway and is ignored: did you mean WEBHOOK_ALLOWED_CIDRS?',
      'WEBHOOK_FOO_BAR is not a variable of this gateway and is ignored: check its spelling.',
    ]);
    const doctor = await gateway(['doctor', '--json'], { ...env, PORT: '70000' });
    expect(oneObject<Checks>(doctor.stdout).checks.map(({ name, ok }) => [name, ok])).to.deep.equal([
      ['config', false],
    ]);
  });

  it('prints the documentation of the configuration', async () => {
    const docs = await gateway(['config', 'docs'], env);
    expect([docs.code, docs.stdout.startsWith('# Configuration\n')]).to.deep.equal([0, true]);
    expect(Object.keys(await answer(['config', 'docs'], env))).to.deep.equal(['stale']);
  });

  it('names the wrong chain, and endpoints that are away', async () => {
    const chain = await startTestChain({ chainId: 97 });
    try {
      const bsc = {
        BSC_RPC_URLS: chain.url,
        BSC_USDT_CONTRACT: chain.usdt.address,
        PRICE_SOURCE: 'fixed:BNB=600,TRX=0.3,USDT=1',
      };
      const wrong = await gateway(['doctor', '--json'], { ...env, ...bsc });
      const check = oneObject<Checks>(wrong.stdout).checks.find(({ name }) => name === 'bsc');
      expect([wrong.code, check?.ok]).to.deep.equal([1, false]);
      expect(`${check?.detail} ${check?.action}`).to.match(/97.*56.*BSC_CHAIN_ID/);
      const right = await answer<Checks>(['doctor'], { ...env, ...bsc, BSC_CHAIN_ID: '97' });
      expect(right.checks.find(({ name }) => name === 'bsc')?.detail).to.match(
        /^chain 97, USDT has 18 decimals, head \d+, finalized \d+$/,
      );
      expect(right.checks.find(({ name }) => name === 'prices')?.detail).to.match(
        /BNB 600, TRX 0\.3, USDT 1/,
      );
    } finally {
      await chain.stop();
    }
    const away = await gateway(['doctor', '--json'], {
      ...env,
      BSC_RPC_URLS: 'http://127.0.0.1:1',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
    });
    const failed = oneObject<Checks>(away.stdout).checks.filter(({ ok }) => !ok);
    expect(failed.map(({ name }) => name)).to.include.members(['bsc', 'temporal']);
    for (const { action } of failed) expect(action).to.be.a('string');
  });

  it('starts a PostgreSQL for one command alone, keeps its data and lets two commands wait for each other', async () => {
    const alone = { DATA_DIR: await tempDir('cli-alone') };
    const first = await answer<Made>(['merchant', 'create', '--name', 'Alone'], alone);
    const [merchants, keys] = await Promise.all([
      answer<{ merchants: { id: string }[] }>(['merchant', 'list'], alone),
      answer<{ keys: unknown[] }>(['key', 'list'], alone),
    ]);
    expect(merchants.merchants.map(({ id }) => id)).to.deep.equal([first.merchant_id]);
    expect(keys.keys).to.have.length(2);
  });
});

/** What the commands of this file could have changed. */
async function everything(env: Env): Promise<unknown[]> {
  return await Promise.all(['merchant', 'key', 'deposit'].map((name) => answer([name, 'list'], env)));
}
