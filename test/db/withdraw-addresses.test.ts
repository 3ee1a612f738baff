import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, freshDatabase } from '../../dev/support/parts.ts';
import { MIGRATIONS } from '../../migrations/index.ts';
import { type Orm, openOrm } from '../../src/db/orm.ts';

const NAME = 'Migration20261123000050_withdraw_addresses';

describe('the withdraw addresses of a database that keeps them in columns', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let orm: Orm;
  before(async () => {
    database = await freshDatabase();
    orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'withdraw-addresses-test' });
  });
  after(async () => {
    await orm?.close(true);
    await database?.drop();
  });
  const sql = async (text: string, values: unknown[] = []) =>
    await orm.em.fork().execute<Record<string, unknown>[]>(text, values);

  it('become rows, and columns again where the migration is taken back', async () => {
    const before = MIGRATIONS[MIGRATIONS.findIndex(({ name }) => name === NAME) - 1]?.name ?? '';
    await orm.migrator.up({ to: before });
    const [both, one, none] = [randomUUID(), randomUUID(), randomUUID()];
    const columns = [
      { id: both, withdraw_bsc: '0xb', withdraw_tron: 'Tb' },
      { id: one, withdraw_bsc: null, withdraw_tron: 'To' },
      { id: none, withdraw_bsc: null, withdraw_tron: null },
    ];
    for (const { id, withdraw_bsc, withdraw_tron } of columns)
      await sql(
        `insert into merchants (id, name, withdraw_bsc, withdraw_tron, subscription_active, created_at,
         updated_at)
         values (?, 'Shop', ?, ?, true, now(), now())`,
        [id, withdraw_bsc, withdraw_tron],
      );
    const rows = [
      { merchant_id: both, network: 'bsc', address: '0xb' },
      { merchant_id: both, network: 'tron', address: 'Tb' },
      { merchant_id: one, network: 'tron', address: 'To' },
    ];
    await orm.migrator.up({ to: NAME });
    expect(await sql('select * from withdraw_addresses')).to.have.deep.members(rows);
    await orm.migrator.down({ to: before });
    expect(await sql('select id, withdraw_bsc, withdraw_tron from merchants')).to.have.deep.members(columns);
    await orm.migrator.up({ to: NAME });
    expect(await sql('select * from withdraw_addresses')).to.have.deep.members(rows);
  });
});
