import { expect } from 'chai';
import { openOrm } from '../../../../src/db/orm.ts';
import {
  ask,
  askOne,
  type Care,
  killingPrograms,
  manifest,
  ROLE,
  startCare,
  TABLES,
  told,
} from '../../../cli/care/stage.ts';
import { gatewayProcess } from '../../../cli/support.ts';

describe('a restore in trouble, and a drill', function () {
  this.timeout(240_000);
  let care: Care;
  before(async () => {
    care = await startCare(gatewayProcess);
  });
  after(() => care?.stop());

  it('refuses while anybody is connected', async () => {
    const { url } = await care.databases.make();
    const orm = await openOrm({ url, poolSize: 1, applicationName: 'gateway worker watcher' });
    await orm.em.fork().execute('select 1');
    const ran = await care.restore({ url });
    await orm.close(true);
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(/in use by gateway worker watcher \(1\).*Stop every/s);
  });

  it('is all or nothing: what fails on the way leaves the database as it was', async () => {
    const database = await care.databases.make();
    const from = await care.altered(
      manifest((it) => ((it['rows'] as Record<string, number>)['deposits'] = 99)),
    );
    const ran = await care.restore(database, [], { from });
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(ran.stderr).to.match(/99 rows of deposits, and 2 were restored/);
    expect(await askOne(database.url, TABLES)).to.deep.equal({ n: 0 });
    expect((await care.restore(database)).code).to.equal(0);
  });

  it('that is killed on the way leaves a database over which no process starts', async () => {
    const database = await care.databases.make();
    const ran = await care.restore(database, [], { POSTGRES_BIN: await killingPrograms(care.programs) });
    expect(ran.code).to.equal(null);
    expect(await askOne(database.url, 'select count(*)::int as n from deposits')).to.deep.equal({ n: 2 });
    for (const args of [['payout', 'list'], ['migrate'], ['doctor'], ['backup', '--to', '/tmp']]) {
      const refused = await care.call(database, args);
      expect(refused.code, told(refused)).to.equal(1);
      expect(told(refused)).to.match(/a restore of it was cut short.*"gateway restore --replace"/);
    }
    expect((await care.restore(database, ['--replace'])).code).to.equal(0);
    expect((await care.call(database, ['payout', 'list'])).code).to.equal(0);
  });

  it('tells which role is missing, and can leave out what roles may', async () => {
    for (const url of [care.url, ...care.databases.made.map((database) => database.url)])
      await ask(url, `drop owned by ${ROLE}`).catch(() => undefined);
    await ask(care.url, `drop role ${ROLE}`);
    const database = await care.databases.make();
    const ran = await care.restore(database);
    expect(ran.code).to.equal(1);
    expect(told(ran)).to.match(/role "reads_reports" does not exist.*--no-privileges/);
    const without = await care.restore(database, ['--no-privileges']);
    expect(without.code, without.stderr).to.equal(0);
    const mayLock = `select has_function_privilege('public', 'lock_for_signing(uuid)', 'execute') as may`;
    const nobody = { may: false };
    expect(await askOne(database.url, mayLock), 'nor may everybody hold payouts').to.deep.equal(nobody);
  });

  it('drills: restores into a database of its own, checks the books, and drops it', async () => {
    const databases = () => askOne(care.url, 'select count(*)::int as n from pg_database');
    const before = await databases();
    await ask(care.url, 'create database gateway_drill_0123456789ab');
    // Beside a gateway that runs: the database of the address is only asked to make another one.
    const ran = await care.call(care, ['restore', '--drill', '--from', care.backup.folder]);
    const [, toDrop = ''] = /one runs: "([^"]*)"/.exec(told(ran)) ?? [];
    expect(toDrop, 'one that was killed is named').to.equal('drop database gateway_drill_0123456789ab');
    await ask(care.url, toDrop);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(ran.stdout).to.match(/The books agree: 2 deposits/);
    expect(ran.stderr).to.contain('The drill changed nothing');
    expect(await databases()).to.deep.equal(before);
  });
});
