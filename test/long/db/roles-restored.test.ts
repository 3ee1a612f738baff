import { expect } from 'chai';
import { tempDir } from '../../../dev/support/parts.ts';
import { requireCurrentSchema } from '../../../src/app/migrate.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { answer, gateway } from '../../cli/support.ts';
import { rightsOf } from '../../db/rights.ts';
import { type Roles, refusal, startRoles, takeDeposit } from '../../db/roles-stage.ts';

describe('the roles of a restored database', function () {
  this.timeout(240_000);
  let the: Roles;
  before(async () => {
    the = await startRoles();
    await takeDeposit(the);
    expect(await the.runRoles()).to.deep.equal({ code: 0, stderr: '' });
  });
  after(() => the?.stop());

  it('back up, drill and restore as the owner, and each may do afterwards what it could', async () => {
    const env = { DATABASE_URL: the.urlOf('gw_owner'), POSTGRES_BIN: the.programs };
    const rights = await rightsOf(the.owner);
    const { folder } = await answer<{ folder: string }>(['backup', '--to', await tempDir('roles')], env);
    expect(await answer(['restore', '--drill', '--from', folder], env)).to.include({ ok: true });
    await the.close();
    const superuser = await openOrm({ url: the.server.now.url, poolSize: 1, applicationName: 'superuser' });
    for (const sql of [
      'alter database gw rename to gw_before',
      'create database gw owner gw_owner',
      'revoke connect, temporary on database gw from public',
      'grant connect on database gw to gw, gw_reader, gw_signer',
    ])
      await superuser.em.fork().execute(sql);
    await superuser.close(true);
    const denied = await gateway(['restore', '--from', folder, '--by', 'Ann'], {
      ...env,
      DATABASE_URL: the.urlOf('gw'),
    });
    expect(denied.code === 1 && denied.stderr).to.match(/cannot be renamed: .*must be owner/s);
    const restored = await answer(['restore', '--from', folder, '--by', 'Ann'], env);
    expect(restored).to.include({ ok: true, payouts_held: true });
    expect(await rightsOf(await the.open(the.urlOf('gw_owner')))).to.deep.equal(rights);
    const again = await the.open(the.urlOf('gw'));
    await requireCurrentSchema(again);
    expect(await refusal(again, "update customers set name = 'x'")).to.equal('was done');
    expect(await refusal(again, 'update ledger_entries set amount_units = 1')).to.include('never changed');
    expect(await refusal(again, 'drop table ledger_entries')).to.match(/must be owner/);
    const signer = await the.open(the.urlOf('gw_signer'));
    expect(await refusal(signer, 'select id, amount_units from deposits')).to.equal('was done');
    expect(await refusal(signer, 'select * from users')).to.match(/permission denied/);
    // A backup of what was restored is as good as the first.
    const second = await answer<{ folder: string }>(['backup', '--to', await tempDir('again')], env);
    expect(await answer(['restore', '--drill', '--from', second.folder], env)).to.include({ ok: true });
  });
});
