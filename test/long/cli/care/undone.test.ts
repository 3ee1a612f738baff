import { expect } from 'chai';
import type { FreshDatabase } from '../../../../dev/support/parts.ts';
import { ask, askOne, type Care, killingPrograms, startCare, told } from '../../../cli/care/stage.ts';
import { type Env, gatewayProcess, oneObject, type Ran } from '../../../cli/support.ts';

/** Everything of a gateway that a database holds, wherever it lies. */
const HELD = `select count(*)::int as n, count(*) filter (where am.amname = 'gin')::int as searched
  from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_am am on am.oid = c.relam
  where n.nspname = $name and c.relkind in ('r', 'i', 'S')`;

const OWNER = 'owns_what_is_restored';
/** What an empty place is, beside the tables in it. */
const PLACE = `select pg_get_userbyid(n.nspowner) as owner, n.nspacl::text as rights,
    (select count(*)::int from pg_class where relnamespace = n.oid) as things,
    (select count(*)::int from pg_default_acl) as later, to_regnamespace('gateway_in_restore') as mark,
    (select string_agg(extname, ',') from pg_extension where extnamespace = n.oid) as extensions
  from pg_namespace n where n.nspname = 'public'`;

describe('a restore that does not come to its end', function () {
  this.timeout(120_000);
  let care: Care;
  let whole: Record<string, unknown>;
  const held = (url: string, schema: string) => askOne(url, HELD.replace('$name', `'${schema}'`));
  const restore = (database: FreshDatabase, more: Env = {}, ...options: string[]) =>
    care.restore(database, options, more);

  /** A database with a whole gateway in it. */
  const healthy = async (): Promise<FreshDatabase> => {
    const database = await care.databases.make();
    const ran = await restore(database);
    expect(ran.code, ran.stderr).to.equal(0);
    whole = await held(database.url, 'public');
    expect(whole['searched']).to.be.greaterThan(0);
    return database;
  };

  /** Has the database refuse every such command from now on. */
  const refuse = async ({ url }: FreshDatabase, command: string): Promise<void> => {
    await ask(
      url,
      `create schema guards; create function guards.refuse() returns event_trigger language plpgsql
         as $$ begin raise exception 'no ${command} here'; end $$;
       create event trigger refuse on ddl_command_start when tag in ('${command}')
         execute function guards.refuse()`,
    );
  };

  /** The statements that an error says are to be run. */
  const statementsOf = (ran: Ran) => /: "([^"]+)"/.exec(told(ran))?.[1] ?? '';
  /** The database's owner, who owns nothing else and may little, at the same database. */
  const byOwner = async (database: FreshDatabase): Promise<FreshDatabase> => {
    await ask(database.url, `alter database ${database.name} owner to ${OWNER}`);
    const url = new URL(database.url);
    [url.username, url.password] = [OWNER, OWNER];
    return { ...database, url: url.href };
  };

  before(async () => {
    care = await startCare(gatewayProcess, ({ deps }) =>
      ask(deps.orm.config.get('clientUrl') ?? '', `create role ${OWNER} login createdb password '${OWNER}'`),
    );
  });
  after(async () => {
    await care?.stop();
    await ask(care.url, `drop role ${OWNER}`).catch(() => undefined);
  });

  it('leaves a database as it was where nothing of it could be put aside', async () => {
    const database = await healthy();
    await refuse(database, 'ALTER EXTENSION');
    const ran = await restore(database, {}, '--replace');
    expect(ran.code, ran.stderr).to.equal(1);
    expect(ran.stderr).to.contain('could not be put aside');
    expect(await held(database.url, 'public')).to.deep.equal(whole);
    expect((await care.call(database, ['migrate'])).code, 'it may be used').to.equal(0);
  });

  it('takes nothing from what lies aside since one that was killed, and names it in the end', async () => {
    const database = await healthy();
    const killing = (when: Parameters<typeof killingPrograms>[1]) => killingPrograms(care.programs, when);
    const killed = await restore(database, { POSTGRES_BIN: await killing('before the rows') }, '--replace');
    expect(killed.code).to.equal(null);
    const schemas = await ask(
      database.url,
      "select nspname as name from pg_namespace where nspname like 'before%'",
    );
    const aside = String(schemas[0]?.['name']);
    for (const programs of ['/', await killing('not at all, and fails before the marker')]) {
      expect((await restore(database, { POSTGRES_BIN: programs })).code, programs).to.equal(1);
      expect(await held(database.url, aside), programs).to.deep.equal(whole);
      expect((await care.call(database, ['migrate'])).code, 'still cut short').to.equal(1);
    }
    const ran = await restore(database, {}, '--json');
    expect(ran.code, ran.stderr).to.equal(0);
    expect(oneObject<{ set_aside: string[] }>(ran.stdout).set_aside).to.deep.equal([aside]);
    expect(await held(database.url, 'public')).to.deep.equal(whole);
  });

  it('says why, and where everything lies, where it cannot be undone either', async () => {
    const database = await healthy();
    await refuse(database, 'DROP SCHEMA');
    const programs = await killingPrograms(care.programs, 'not at all, and fails before the marker');
    const ran = await restore(database, { POSTGRES_BIN: programs }, '--replace');
    expect(ran.code).to.equal(1);
    expect(ran.stderr.replace(/\s+/g, ' ')).to.match(
      /pg_restore.*could not be put back: .*no DROP SCHEMA here.*lies in the schema before_restore_\d{14}, whole/,
    );
    expect((await care.call(database, ['migrate'])).code).to.equal(1);
  });

  it('leaves an empty place its owner, its rights and an extension of somebody else', async () => {
    const database = await care.databases.make();
    const owner = await byOwner(database);
    await ask(database.url, 'create extension pg_trgm');
    await ask(database.url, `grant create on schema public to pg_monitor`);
    await ask(database.url, 'alter default privileges in schema public grant select on tables to pg_monitor');
    const before = await askOne(database.url, PLACE);
    expect(before).to.include({ extensions: 'pg_trgm', later: 1, things: 0 });
    const programs = await killingPrograms(care.programs, 'not at all, and fails before the marker');
    for (const who of [owner, database]) {
      const ran = await restore(who, { POSTGRES_BIN: programs });
      expect([ran.code, told(ran)]).to.deep.equal([1, told(ran)]);
      expect(told(ran)).to.match(/the database is as it was before\. .*pg_restore failed/);
      expect(await askOne(database.url, PLACE)).to.deep.equal(before);
    }
    const ran = await restore(owner);
    expect(ran.code, ran.stderr).to.equal(0);
  });

  it('takes nothing away that is no table: a place with such things is not empty', async () => {
    const database = await care.databases.make();
    await ask(database.url, 'create collation german from "C"');
    await ask(database.url, 'create text search configuration words (copy = simple)');
    const ran = await restore(database);
    expect([ran.code, told(ran)]).to.deep.equal([1, told(ran)]);
    expect(told(ran)).to.contain('not empty: it has 2 ');
  });

  it('is not begun by a role that could not end it, and what is said to be done helps', async () => {
    const database = await care.databases.make();
    const owner = await byOwner(database);
    const refused = async (words: RegExp) => {
      const ran = await restore(owner);
      expect([ran.code, told(ran)]).to.deep.equal([1, told(ran)]);
      expect(told(ran)).to.match(words).and.not.contain('Restoring the rows');
      expect(await askOne(database.url, HELD.replace('$name', "'public'"))).to.include({ n: 0 });
      return statementsOf(ran);
    };
    await ask(database.url, 'drop schema public');
    await ask(owner.url, await refused(/no schema "public"/));
    await ask(database.url, 'alter schema public owner to current_user');
    await ask(database.url, await refused(/"public" belongs to .* can make nothing/));
    const programs = await killingPrograms(care.programs, 'before the rows');
    expect((await restore(database, { POSTGRES_BIN: programs })).code, 'by a superuser').to.equal(null);
    await ask(database.url, await refused(/cannot be marked .*must be owner/));
    expect((await care.call(owner, ['migrate'])).code, 'it is marked').to.equal(1);
    await ask(owner.url, 'create table gateway_in_restore.mine (what text)');
    await refused(/cannot be marked .*other objects depend.*Take what is in the schema/);
    await ask(owner.url, 'drop table gateway_in_restore.mine');
    const ran = await restore(owner);
    expect(ran.code, ran.stderr).to.equal(0);
    expect((await care.call(owner, ['migrate'])).code).to.equal(0);
  });
});
