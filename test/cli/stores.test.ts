import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { answer, type Env, gateway, oneObject } from './support.ts';

type Checks = { ok: boolean; checks: { name: string; ok: boolean; detail: string; action: string | null }[] };

describe('command line: its database and its configuration', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
  });
  after(() => database?.drop());

  const failing = async (more: Env = {}) => {
    const ran = await gateway(['doctor', '--json'], { ...env, ...more });
    const { checks } = oneObject<Checks>(ran.stdout);
    return checks.filter(({ ok }) => !ok).map(({ name, action }) => [name, action]);
  };

  it('say "gateway migrate" while the database is behind, and it is migrated once', async () => {
    // No chain is watched here, so that no live link could be paid.
    const unpaid = ['payments', 'Set BSC_RPC_URLS or TRON_API_URLS and restart every role'];
    expect(await failing()).to.deep.equal([['schema', 'Run "gateway migrate"'], unpaid]);
    const refused = await gateway(['merchant', 'list'], env);
    expect([refused.code, refused.stdout]).to.deep.equal([1, '']);
    expect(refused.stderr).to.match(/^The database is behind.*"gateway migrate".*\.\n$/);
    const applied = MIGRATIONS.map((migration) => migration.name);
    expect(await answer(['migrate'], env)).to.deep.equal({ applied });
    expect(await answer(['migrate'], env)).to.deep.equal({ applied: [] });
    expect(await failing()).to.deep.equal([unpaid]);
  });

  it('are named where they are away or do not exist, without a password', async () => {
    const away = 'postgres://me:hunter2@127.0.0.1:1/x';
    const ran = await gateway(['merchant', 'list'], { ...env, DATABASE_URL: away });
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr)
      .to.match(
        /^The database does not answer: .*ECONNREFUSED.*Check DATABASE_URL and that PostgreSQL runs\.\n$/,
      )
      .and.not.include('hunter2');
    const missing = new URL(database.url);
    missing.pathname = '/not_there';
    for (const command of ['migrate', 'doctor']) {
      const { code, stdout, stderr } = await gateway([command], { ...env, DATABASE_URL: missing.href });
      expect(code).to.equal(1);
      expect(stderr + stdout).to.match(/does not answer: .*"not_there" does not exist/);
    }
    const parts = { BSC_RPC_URLS: 'http://127.0.0.1:1', TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const failed = await failing(parts);
    expect(failed.map(([name]) => name)).to.include.members(['bsc', 'temporal']);
    for (const [, action] of failed) expect(action).to.be.a('string');
  });

  it('are a PostgreSQL for one command alone where none is named, which keeps its data; two wait for each other', async () => {
    const alone = { DATA_DIR: await tempDir('cli-alone') };
    const made = await answer(['merchant', 'create', '--name', 'Alone'], alone);
    const [listed, keys] = await Promise.all([
      answer<{ merchants: { id: string }[] }>(['merchant', 'list'], alone),
      answer<{ keys: unknown[] }>(['key', 'list'], alone),
    ]);
    expect(listed.merchants.map(({ id }) => id)).to.deep.equal([made['merchant_id']]);
    expect(keys.keys).to.have.length(2);
  });
});
