import { expect } from 'chai';
import { freshDatabase } from '../../dev/support/parts.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';
import { firstRow, rows, run, sql } from '../../src/db/sql.ts';

describe('a statement', function () {
  this.timeout(60_000);
  let orm: Orm;
  const fork = () => orm.em.fork();

  before(async () => {
    orm = await openOrm({ url: (await freshDatabase()).url, poolSize: 2, applicationName: 'sql test' });
    await run(
      fork(),
      sql`create table things (id bigint primary key, some_name text, at_time timestamptz, facts jsonb)`,
    );
  });
  after(() => orm?.close(true));
  beforeEach(() => run(fork(), sql`delete from things`));

  it('binds whatever it is given, lists as one, and has its columns in camelCase', async () => {
    const at = new Date('2026-11-23T01:02:03.456Z');
    const names = ["it's ? and $1", 'two'];
    const facts = { is_kept: ['as', 'it', 'is'] };
    await run(
      fork(),
      sql`insert into things values (${2n ** 60n}, ${names[0]}, ${at}, ${JSON.stringify(facts)}),
        (2, null, null, '{}')`,
    );
    const text = sql<{ id: string; someName: string | null; facts: object; isLate: boolean }>`
      select id, some_name, facts, at_time = ${at} as is_late from things
        where (some_name = any(${names}) or some_name is null) and facts ? 'is_kept'`;
    expect(await rows(fork(), text)).to.deep.equal([
      { id: String(2n ** 60n), someName: names[0], facts, isLate: true },
    ]);
    expect(await firstRow(fork(), sql`select 1 from things where id = any(${[7n, 8n]})`)).to.equal(undefined);
    expect(await rows(fork(), sql`select 1 from things where some_name = any(${[]}::text[])`)).to.deep.equal(
      [],
    );
  });

  it('is put together of others, each with its own values', async () => {
    await run(fork(), sql`insert into things select n, 'name ' || n from generate_series(1, 9) n`);
    const isNamed = (name: string) => sql`some_name = ${name}`;
    const either = sql`(${isNamed('name 3')} or ${isNamed('name 5')})`;
    const found = sql<{
      id: string;
    }>`select id from ${sql.table('things')} where ${either} and id < ${5} order by id`;
    expect(await rows(fork(), found)).to.deep.equal([{ id: '3' }]);
  });
});
