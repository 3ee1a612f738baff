import { expect } from 'chai';
import { freshDatabase } from '../../dev/support/parts.ts';
import { openOrm } from '../../src/db/orm.ts';

describe('the limits of a database connection', function () {
  this.timeout(30_000);

  it('let a host that vanished hold a lock for 15 s at most, and a lock be waited for less long than a statement', async () => {
    const database = await freshDatabase();
    const orm = await openOrm({ url: database.url, poolSize: 2, applicationName: 'limits' });
    const rows = await orm.em
      .fork()
      .execute<{ name: string; setting: string }[]>('select name, setting from pg_settings');
    await orm.close(true);
    await database.drop();
    const value = (name: string) => Number(rows.find((row) => row.name === name)?.setting);
    expect(value('statement_timeout')).to.equal(15_000);
    expect(value('lock_timeout')).to.be.within(1, value('statement_timeout') - 1);
    expect(value('idle_in_transaction_session_timeout')).to.equal(10_000);
    // While a statement runs its end is noticed by the keep-alives,
    // and only then the clock of the idle transaction begins.
    const silentS =
      value('tcp_keepalives_idle') + value('tcp_keepalives_interval') * value('tcp_keepalives_count');
    const gone =
      Math.max(silentS * 1_000, value('tcp_user_timeout')) + value('client_connection_check_interval');
    expect(gone + value('idle_in_transaction_session_timeout')).to.be.at.most(15_000);
  });
});
