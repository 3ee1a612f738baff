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
  told,
} from '../../../cli/care/stage.ts';
import { gatewayProcess, oneObject } from '../../../cli/support.ts';

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
    expect(told(ran)).to.match(/Nothing was restored.*being accessed by other users.*Stop whatever/);
    expect((await care.restore({ url })).code).to.equal(0);
  });

  it('that is killed on the way leaves no database of that name; the same backup goes into a new one', async () => {
    const { url, name } = await care.databases.make();
    const ran = await care.restore({ url }, [], { POSTGRES_BIN: await killingPrograms(care.programs) });
    expect(ran.code).to.equal(null);
    for (const args of [['payout', 'list'], ['migrate'], ['backup', '--to', '/tmp']]) {
      const refused = await care.call({ url }, args);
      expect([refused.code, told(refused)]).to.deep.equal([1, told(refused)]);
      expect(told(refused)).to.contain(`database "${name}" does not exist`);
    }
    await ask(care.url, `create database ${name}`);
    const again = await care.restore({ url });
    expect(again.code, again.stderr).to.equal(0);
    const [, toDrop = ''] = /none runs now: "(drop database gateway_restore_[^"]*)"/.exec(told(again)) ?? [];
    await ask(care.url, toDrop);
    expect((await care.call({ url }, ['payout', 'list'])).code).to.equal(0);
  });

  it('lets one of two restores have the database, whatever its name, and that one is complete', async () => {
    const made = await care.databases.make();
    const name = `${made.name} of mine "=\\ $1`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await ask(care.url, `alter database ${made.name} rename to ${quoted}`);
    const url = Object.assign(new URL(made.url), { pathname: `/${encodeURIComponent(name)}` }).href;
    try {
      const ran = await Promise.all([care.restore({ url }), care.restore({ url })]);
      const done = ran.filter(({ code }) => code === 0);
      for (const { code, stderr } of ran.filter((one) => one.code !== 0))
        expect([code, stderr.replace(/\s+/g, ' ')].join()).to.match(
          /^1,.*(cannot be renamed|cannot be used|is not empty)/,
        );
      if (done.length === 0) expect((await care.restore({ url })).code).to.equal(0);
      expect(await askOne(url, 'select count(*)::int as n from deposits')).to.deep.equal({ n: 2 });
      expect(await askOne(url, 'select count(*)::int as n from restores')).to.deep.equal({ n: 1 });
    } finally {
      await ask(care.url, `alter database ${quoted} rename to ${made.name}`);
    }
  });

  it('gives no address again that a database of the same backup gave away before', async () => {
    const next = async (from = care.backup.folder): Promise<number> => {
      const ran = await care.restore(await care.databases.make(), ['--json'], { from });
      expect(ran.code, ran.stderr).to.equal(0);
      return oneObject<{ wallet_index: { next: number } }>(ran.stdout).wallet_index.next;
    };
    const anHourLater = await care.altered(
      manifest(
        (it) => (it['made_at'] = new Date(Date.parse(String(it['made_at'])) - 3_600_000).toISOString()),
      ),
    );
    expect((await next(anHourLater)) - (await next()), 'what a key makes in it').to.be.greaterThan(350_000);
  });

  it('tells which role is missing', async () => {
    for (const url of [care.url, ...care.databases.made.map((database) => database.url)])
      await ask(url, `drop owned by ${ROLE}`);
    await ask(care.url, `drop role ${ROLE}`);
    const ran = await care.restore(await care.databases.make());
    expect([ran.code, ran.stdout]).to.deep.equal([1, '']);
    expect(told(ran)).to.match(/role "reads_reports" does not exist.*Make a role that is missing/);
  });

  it('drills: restores into a database of its own, checks the books, and drops it', async () => {
    const databases = () => askOne(care.url, 'select count(*)::int as n from pg_database');
    const before = await databases();
    await ask(care.url, 'create database gateway_drill_0123456789ab');
    // Beside a gateway that runs: the database of the address is only asked to make another one.
    const ran = await care.call(care, ['restore', '--drill', '--from', care.backup.folder]);
    const [, toDrop = ''] = /none runs now: "([^"]*0123456789ab)"/.exec(told(ran)) ?? [];
    expect(toDrop, 'one that was killed is named').to.equal('drop database gateway_drill_0123456789ab');
    await ask(care.url, toDrop);
    expect(ran.code, ran.stderr).to.equal(0);
    expect(ran.stdout).to.match(/The books agree: 2 deposits/);
    expect(ran.stderr).to.contain('The drill changed nothing');
    expect(await databases()).to.deep.equal(before);
  });
});
