import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../dev/support/parts.ts';
import { openOrm } from '../../src/db/orm.ts';
import { monthAfter, monthOf } from '../../src/domain/months.ts';
import { answer, type Env, gateway } from './support.ts';

const WHY = ['--by', 'Ann', '--reason', 'yearly archive'];
const CUT = [
  'events',
  'webhook_deliveries',
  'webhook_attempts',
  'deposit_transitions',
  'ledger_transactions',
];
type Month = { readonly month: string; readonly detached_by: string | null };

describe('command line: months that are archived', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  const present = monthOf(new Date());
  const old = monthAfter(present, -14);
  const months = async () => (await answer<{ months: Month[] }>(['archive', 'list'], env)).months;

  before(async () => {
    database = await migratedDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
    // As if the first month had been made long ago.
    const orm = await openOrm({ url: database.url, poolSize: 1, applicationName: 'archive-test' });
    const name = (month: string) => month.replace('-', '_');
    const renames = [...CUT, 'ledger_entries'].map(
      (table) => `alter table ${table}_${name(present)} rename to ${table}_${name(old)}`,
    );
    const moved = [
      [old, present],
      [monthAfter(old, 1), monthAfter(present, 1)],
    ].map(
      ([to, from]) => `update partition_months set first_month = '${to}-01' where first_month = '${from}-01'`,
    );
    await orm.em.getConnection().execute([...renames, ...moved].join('; '));
    await orm.close(true);
  });
  after(() => database?.drop());

  it('are refused with the reason, told without --yes with the dump first, and detached with it', async () => {
    const young = await gateway(['archive', 'detach', monthAfter(present, 2), ...WHY], env);
    expect([young.code, young.stdout]).to.deep.equal([1, '']);
    expect(young.stderr).to.contain(`${old} is older and still attached. Archive and detach it first.`);
    const first = await gateway(['archive', 'detach', old, ...WHY], env);
    expect(first.code).to.equal(1);
    expect(first.stderr).to.contain(
      `pg_dump --dbname="$DATABASE_URL" --format=custom --file=gateway-${old}.dump --table=webhook_attempts_${old.replace('-', '_')}`,
    );
    expect((await months())[0]).to.include({ month: old, detached_by: null });
    type Done = { detached: string[]; next: string };
    const done = await answer<Done>(['archive', 'detach', old, ...WHY, '--yes'], env);
    expect(done.detached).to.have.length(4);
    expect(done.next).to.match(/^drop table webhook_attempts_/);
    expect((await months())[0]).to.include({ month: old, detached_by: 'Ann' });
  });
});
