import { expect } from 'chai';
import { type FreshDatabase, freshDatabase, tempDir } from '../../dev/support/parts.ts';
import { openOrm } from '../../src/db/orm.ts';
import { monthAfter, monthOf } from '../../src/domain/months.ts';
import { answer, type Env, gateway, oneObject } from './support.ts';

const WHY = ['--by', 'Ann', '--reason', 'yearly archive'];
type Month = { readonly month: string; readonly until: string | null; readonly detached_by: string | null };

describe('command line: months that are archived', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let env: Env;
  const present = monthOf(new Date());
  const old = monthAfter(present, -14);

  before(async () => {
    database = await freshDatabase();
    env = { DATABASE_URL: database.url, DATA_DIR: await tempDir('cli') };
    await answer(['migrate'], env);
    // As if the first month had been made long ago.
    const orm = await openOrm({ url: database.url, poolSize: 1, applicationName: 'archive-test' });
    const connection = orm.em.getConnection();
    for (const table of [
      'events',
      'webhook_deliveries',
      'webhook_attempts',
      'deposit_transitions',
      'ledger_transactions',
      'ledger_entries',
    ])
      await connection.execute(
        `alter table ${table}_${present.replace('-', '_')} rename to ${table}_${old.replace('-', '_')}`,
      );
    await connection.execute(
      `update partition_months set first_month = '${old}-01' where first_month = '${present}-01'`,
    );
    await connection.execute(
      `update partition_months set first_month = '${monthAfter(old, 1)}-01'
        where first_month = '${monthAfter(present, 1)}-01'`,
    );
    await orm.close(true);
  });
  after(() => database?.drop());

  it('are listed, and doctor knows how far they are made', async () => {
    const { months } = await answer<{ months: Month[] }>(['archive', 'list'], env);
    expect(months.map(({ month }) => month)).to.include.members([old, monthAfter(present, 3)]);
    const doctor = oneObject<{ checks: { name: string; ok: boolean; detail: string }[] }>(
      (await gateway(['doctor', '--json'], env)).stdout,
    );
    expect(doctor.checks.find(({ name }) => name === 'partitions')).to.include({
      ok: true,
      detail: `made up to ${monthAfter(present, 3)}`,
    });
  });

  it('are refused with the reason, and without --yes the dump is told first and nothing happens', async () => {
    const young = await gateway(['archive', 'detach', monthAfter(present, 2), ...WHY], env);
    expect(young.code).to.equal(1);
    expect(young.stderr).to.contain(`${old} is older and still attached. Archive and detach it first.`);
    const unsaid = await gateway(['archive', 'detach', old], env);
    expect(unsaid.code).to.equal(2);
    expect((await gateway(['archive', 'detach', '2026-13', ...WHY], env)).code).to.equal(2);
    const first = await gateway(['archive', 'detach', old, ...WHY], env);
    expect(first.code).to.equal(1);
    const table = `webhook_attempts_${old.replace('-', '_')}`;
    expect(first.stderr).to.contain(
      `pg_dump --dbname="$DATABASE_URL" --format=custom --file=gateway-${old}.dump --table=${table}`,
    );
    const { months } = await answer<{ months: Month[] }>(['archive', 'list'], env);
    expect(months[0]?.detached_by).to.equal(null);
  });

  it('are detached with --yes, and the list says by whom', async () => {
    const done = await answer<{ detached: string[]; next: string }>(
      ['archive', 'detach', old, ...WHY, '--yes'],
      env,
    );
    expect(done.detached).to.have.length(4);
    expect(done.next).to.match(/^drop table webhook_attempts_/);
    const { months } = await answer<{ months: Month[] }>(['archive', 'list'], env);
    expect(months[0]).to.include({ month: old, detached_by: 'Ann' });
  });
});
