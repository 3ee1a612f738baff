import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase, tempDir } from '../../../../dev/support/parts.ts';
import { openOrm } from '../../../../src/db/orm.ts';
import { ask, askOne, emptyDatabases, findPrograms, killingPrograms, told } from '../../../cli/care/stage.ts';
import { answer, type Env, gatewayProcess, oneObject } from '../../../cli/support.ts';

/** What somebody else may have in the place of the tables, of every kind that has a name of its own way. */
const AMONG = [
  'create table "what? $1 \'""x""\' \\ {a}; drop" (id int)',
  'create type "kind?" as enum (\'a\')',
  'create domain "d.o" as int',
  'create type pair as (a int, b "kind?")',
  "create function st(int) returns int language sql as 'select 1'",
  "create aggregate counted(*) (sfunc = st, stype = int, initcond = '0')",
  'create aggregate nth(float8 order by anyelement) (sfunc = ordered_set_transition, stype = internal, finalfunc = percentile_disc_final, finalfunc_extra)',
  "create procedure pr(inout a int) language sql as 'select 1'",
  'create function eq(int, "kind?") returns bool language sql immutable as \'select true\'',
  'create operator === (leftarg = int, rightarg = "kind?", function = eq)',
  'create operator family fam using btree',
  'create text search dictionary td (template = simple)',
  "create conversion conv for 'UTF8' to 'LATIN1' from utf8_to_iso8859_1",
  'create statistics counts (dependencies) on created_at, id from merchants',
];
/** What somebody else may have beside it. */
const BESIDE = [
  'create schema reports',
  'create table reports.made (id int)',
  'insert into reports.made values (1)',
  'create view reports.of_deposits as select count(*)::int as n from deposits',
  'create schema "-"',
  'create schema "TABLE"',
  'create table "TABLE"."DATA" (id int)',
  'create publication everything for tables in schema public',
  'create publication one for table deposits',
  'create function reports.seen() returns event_trigger language plpgsql as $$ begin end $$',
  'create event trigger seen on ddl_command_end execute function reports.seen()',
  'alter default privileges grant select on tables to pg_monitor',
];
const ALL = `select
  (select string_agg(pg_describe_object(classid, objid, 0), e'\\n' order by classid, objid) from pg_depend
    where refclassid = 'pg_namespace'::regclass and refobjid = 'public'::regnamespace) as place,
  (select string_agg(nspname, ',' order by nspname) from pg_namespace where nspname !~ '^pg_') as schemas,
  (select string_agg(pubname, ',' order by pubname) from pg_publication) as publications,
  (select string_agg(evtname, ',') from pg_event_trigger) as triggers,
  (select count(*)::int from pg_default_acl) as rights`;

describe('a restore beside what is somebody else\u2019s', function () {
  this.timeout(120_000);
  let source: FreshDatabase;
  let env: Env;
  let folder: string;
  let failing: string;
  const databases = emptyDatabases();
  const call = ({ url }: Pick<FreshDatabase, 'url'>, args: readonly string[], more: Env = {}) =>
    gatewayProcess(args, { ...env, DATABASE_URL: url, ...more });
  const restore = (database: Pick<FreshDatabase, 'url'>, more: Env, ...args: string[]) =>
    call(database, ['restore', '--from', folder, '--by', 'Ann', ...args], more);
  const backedUp = async ({ url }: FreshDatabase) =>
    await answer<{ folder: string }>(['backup', '--to', await tempDir('backups')], {
      ...env,
      DATABASE_URL: url,
    });

  before(async () => {
    const programs = await findPrograms();
    env = { POSTGRES_BIN: programs, LOG_LEVEL: 'error' };
    failing = await killingPrograms(programs, 'not at all, and fails before the marker');
    source = await migratedDatabase();
    for (const one of [...AMONG, ...BESIDE]) await ask(source.url, one);
    ({ folder } = await backedUp(source));
  });
  after(async () => {
    await databases.drop();
    await source?.drop();
  });

  it('leaves nothing behind where it fails, whatever the names and the kinds, also that of the database', async () => {
    const database = await databases.make();
    const other = await databases.make();
    const name = `${database.name} of mine "=\\ $1`;
    const quoted = `"${name.replaceAll('"', '""')}"`;
    await ask(other.url, `alter database ${database.name} rename to ${quoted}`);
    const url = new URL(database.url);
    url.pathname = `/${encodeURIComponent(name)}`;
    try {
      const before = await askOne(url.href, ALL);
      const ran = await restore({ url: url.href }, { POSTGRES_BIN: failing });
      expect([ran.code, told(ran)]).to.deep.equal([1, told(ran)]);
      expect(told(ran)).to.contain('the database is as it was before');
      expect(await askOne(url.href, ALL)).to.deep.equal(before);
      const done = await restore({ url: url.href }, {});
      expect(done.code, done.stderr).to.equal(0);
      const made = await askOne(url.href, ALL);
      expect(made).to.include({ publications: null, triggers: null, rights: 1 });
      expect(made['schemas']).to.contain('reports');
      expect(String(made['place'])).to.contain('counted').and.contain('what? $1');
    } finally {
      await ask(other.url, `alter database ${quoted} rename to ${database.name}`);
    }
  });

  it('goes over a database that has such things, leaves them as they are, and says so', async () => {
    const before = await askOne(source.url, ALL);
    const failed = await restore(source, { POSTGRES_BIN: failing }, '--replace');
    expect([failed.code, told(failed)]).to.deep.equal([1, told(failed)]);
    expect(told(failed)).to.contain('the database is as it was before');
    expect(await askOne(source.url, ALL)).to.deep.equal(before);
    const ran = await restore(source, {}, '--replace', '--json');
    expect(ran.code, ran.stderr).to.equal(0);
    expect(told(ran)).to.match(/Left out, .*SCHEMA - reports/);
    const { set_aside: aside } = oneObject<{ set_aside: string[] }>(ran.stdout);
    expect(aside).to.have.length(1);
    const { publications, triggers, rights } = await askOne(source.url, ALL);
    expect({ publications, triggers, rights }).to.deep.equal({
      publications: before['publications'],
      triggers: before['triggers'],
      rights: before['rights'],
    });
    expect(await askOne(source.url, 'select id from reports.made')).to.deep.equal({ id: 1 });
    // A backup that has a view over what was put aside would fail when it counts.
    const refused = await call(source, ['backup', '--to', await tempDir('backups')]);
    expect([refused.code, told(refused)]).to.deep.equal([1, told(refused)]);
    expect(told(refused)).to.contain(
      `reports.of_deposits is over what a restore has put aside, in ${aside[0]}`,
    );
    await ask(
      source.url,
      'create or replace view reports.of_deposits as select count(*)::int as n from public.deposits',
    );
    for (const one of [`(k ${aside[0]}."kind?")`, `() inherits (${aside[0]}.deposits)`]) {
      await ask(source.url, `create table reports.late ${one}`);
      const late = await call(source, ['backup', '--to', await tempDir('backups')]);
      expect([late.code, told(late)]).to.deep.equal([1, told(late)]);
      expect(told(late)).to.contain(`reports.late is over what a restore has put aside, in ${aside[0]}`);
      await ask(source.url, 'drop table reports.late');
    }
    // Neither of these is in a backup.
    await ask(source.url, 'create schema "before_restore_of Ann"');
    await ask(
      source.url,
      `create view "before_restore_of Ann".of_deposits as select count(*) as n from ${aside[0]}.deposits`,
    );
    const orm = await openOrm({ url: source.url, poolSize: 1, applicationName: 'look' });
    await orm.em.fork().execute(`create temp view mine as select count(*) as n from ${aside[0]}.deposits`);
    const again = await backedUp(source).finally(() => orm.close(true));
    const drill = await call(source, ['restore', '--drill', '--from', again.folder]);
    expect(drill.code, drill.stderr).to.equal(0);
  });
});
