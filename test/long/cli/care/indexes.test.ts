import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { tempDir } from '../../../../dev/support/parts.ts';
import { createCustomer } from '../../../../dev/support/use-cases.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import {
  ask,
  askOne,
  type Care,
  killingPrograms,
  programsThat,
  startCare,
  TABLES,
} from '../../../cli/care/stage.ts';
import { gatewayProcess, oneObject } from '../../../cli/support.ts';
import { type TestApi, testDeps } from '../../../support/gateway.ts';

/** What a restore puts back by itself or last is as the migrations make it. */
const AS_MIGRATED = [
  `select s.seqtypid::regtype::text, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle, c.relacl
    from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.oid = 'wallet_index_seq'::regclass`,
  "select prosrc, prosecdef, proconfig, proacl from pg_proc where oid = 'lock_for_signing(uuid)'::regprocedure",
  'select name from schema_migrations order by id',
];

describe('wallet indexes after a restore', function () {
  this.timeout(120_000);
  let care: Care;
  /** 50 customers' addresses. */
  const given = async ({ deps, merchant }: Pick<TestApi, 'deps' | 'merchant'>, what: string) => {
    for (let n = 0; n < 50; n += 1)
      await createCustomer(deps, {
        merchantId: merchant.id,
        mode: 'live',
        externalId: `${what}-${n}`,
        email: null,
        name: null,
        metadata: {},
      });
    const made = await deps.orm.em.fork().execute<{ address: string }[]>(
      `select address from deposit_addresses a join customers c on c.id = a.customer_id
         where external_id like ?`,
      [`${what}-%`],
    );
    return made.map(({ address }) => address);
  };

  before(async () => {
    care = await startCare(gatewayProcess, (api) => given(api, 'known'));
  });
  after(() => care?.stop());

  it('leaves no wallet index to be drawn before it is ahead, and is ahead of all that was put aside', async () => {
    const database = await care.databases.make();
    await ask(database.url, 'create sequence wallet_index_seq start 40000000');
    const killing = await killingPrograms(care.programs, 'after the rows');
    const killed = await care.restore(database, ['--replace'], { POSTGRES_BIN: killing });
    expect(killed.code).to.equal(null);
    // A process that was disconnected for a moment, and goes on over the rows that came back.
    expect(await askOne(database.url, 'select count(*)::int as n from customers')).to.deep.equal({ n: 50 });
    const drawn = await ask(database.url, "select nextval('wallet_index_seq')").catch(
      (error: Error) => error,
    );
    expect(String(drawn)).to.contain('"wallet_index_seq" does not exist');
    // Nor has anything signed what the backup says is to be signed.
    const locked = await ask(database.url, 'select lock_for_signing(gen_random_uuid())').catch(
      (error: Error) => error,
    );
    expect(String(locked)).to.match(/function lock_for_signing\(uuid\) does not exist/);
    const again = await care.restore(database, ['--replace', '--json']);
    expect(again.code, again.stderr).to.equal(0);
    const { wallet_index: index } = oneObject<{ wallet_index: { next: number } }>(again.stdout);
    expect(index.next, 'what the first one had put aside').to.be.at.least(50_000_000);
    for (const what of AS_MIGRATED)
      expect(await ask(database.url, what), what).to.deep.equal(await ask(care.url, what));
  });

  it('leaves no empty place for a new gateway, which would give all addresses again', async () => {
    const database = await care.databases.make();
    await ask(database.url, 'create sequence wallet_index_seq start 40000000');
    const killing = await killingPrograms(care.programs, 'before the rows');
    const killed = await care.restore(database, ['--replace'], { POSTGRES_BIN: killing });
    expect(killed.code).to.equal(null);
    const refused = await care.call(database, ['migrate']);
    expect([refused.code, refused.stderr]).to.deep.equal([1, refused.stderr]);
    expect(refused.stderr).to.contain('a restore of it was cut short');
    // One that fails leaves it as it was: cut short.
    expect((await care.restore(database, [], { POSTGRES_BIN: '/' })).code).to.equal(1);
    expect((await care.call(database, ['migrate'])).code).to.equal(1);
    const again = await care.restore(database, ['--json']);
    expect(again.code, again.stderr).to.equal(0);
    const { wallet_index: index } = oneObject<{ wallet_index: { next: number } }>(again.stdout);
    expect(index.next).to.be.at.least(50_000_000);
    expect((await care.call(database, ['migrate'])).code).to.equal(0);
  });

  it('refuses who connects while it is restored, and is then as it was', async () => {
    const database = await care.databases.make();
    const at = join(await tempDir('held'), 'at');
    const held = await programsThat(
      care.programs,
      `case "$0 $*" in *pg_restore*rows*) ${care.programs}/pg_restore "$@" || exit 1
         touch ${at}; while [ -f ${at} ]; do sleep 0.1; done; exit 0;; esac`,
    );
    const restoring = care.restore(database, [], { POSTGRES_BIN: held });
    await eventually('the rows', () => existsSync(at), 60_000);
    const orm = await openOrm({ url: database.url, poolSize: 1, applicationName: 'gateway api' });
    await orm.em.fork().execute('select 1');
    rmSync(at);
    const ran = await restoring;
    await orm.close(true);
    expect([ran.code, ran.stderr]).to.deep.equal([1, ran.stderr]);
    expect(ran.stderr).to.match(/in use by gateway api \(1\)/);
    expect(await askOne(database.url, TABLES)).to.deep.equal({ n: 0 });
  });

  it('refuses a second restore beside the first, and is then complete', async () => {
    const database = await care.databases.make();
    const ran = await Promise.all([care.restore(database), care.restore(database)]);
    const done = ran.filter(({ code }) => code === 0);
    for (const { stderr } of ran.filter(({ code }) => code !== 0))
      expect(stderr).to.match(/in use by gateway restore [0-9a-f]{8} \(\d\)|not empty/);
    const tables = await askOne(database.url, "select to_regclass('customers') is not null as there");
    expect(tables['there']).to.equal(done.length === 1);
  });

  it('gives no address again that was given away after the backup, also into the database itself', async () => {
    const over = async (url: string, what: string) => {
      const deps = await testDeps(url, [], { deps: { xpubs: care.api.deps.xpubs } });
      return await given({ deps, merchant: care.api.merchant }, what).finally(() => deps.orm.close(true));
    };
    const [lost, database] = [await given(care.api, 'lost'), await care.databases.make()];
    expect((await care.restore(database)).code).to.equal(0);
    const after = await over(database.url, 'after');
    const replaced = await care.restore(database, ['--replace']);
    expect(replaced.code, replaced.stderr).to.equal(0);
    const again = await over(database.url, 'again');
    const all = [...lost, ...after, ...again];
    expect(all).to.have.length(300);
    expect(new Set(all).size, 'two networks of each').to.equal(300);
  });
});
