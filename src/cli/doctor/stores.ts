import { MIGRATIONS } from '../../../migrations/index.ts';
import type { Run } from '../../base/data-dir.ts';
import { bad, type Finding, good } from '../../base/finding.ts';
import type { Logger } from '../../base/log.ts';
import { reasonOf } from '../../base/reason.ts';
import type { Config } from '../../config/index.ts';
import { type Em, openOrm } from '../../db/orm.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import { linkTemporal, type TemporalLink } from '../../temporal/client.ts';
import { missingSearchAttributes } from '../../temporal/search-attributes.ts';
import { reachTemporal } from '../reach.ts';
import { checkBalances } from './balances.ts';
import { checkNotices } from './notices.ts';
import { checkRequests } from './requests.ts';
import { checkTexts } from './texts.ts';

const MAX_CLOCK_DIFFERENCE_MS = 5_000;
const MIN_MAJOR = 14;
const SEARCH_ATTRIBUTES_WITHIN_MS = 5_000;
const GRPC_NOT_FOUND = 5;

/** PostgreSQL, the schema in it, and its clock against ours. Only reads: no table is made. */
export async function checkDatabase(config: Config, run: Run | undefined, log: Logger): Promise<Finding[]> {
  const url = config.database.kind === 'url' ? config.database.url : run?.databaseUrl;
  if (url === undefined)
    return [good('database', 'embedded; "gateway start" starts it and brings its schema up to date')];
  const orm = await openOrm({ url, poolSize: 1, applicationName: 'gateway doctor' });
  const em = orm.em.fork();
  try {
    const asked = Date.now();
    const row = await firstRow(
      em,
      sql<{ version: string; major: string; at: string }>`select current_setting('server_version') as version,
        current_setting('server_version_num') as major,
          (extract(epoch from clock_timestamp()) * 1000)::bigint::text as at`,
    );
    const ours = (asked + Date.now()) / 2;
    const schema = await checkSchema(em);
    return [
      checkVersion(row?.version ?? '', row?.major ?? '0'),
      schema,
      checkClock(ours, row?.at ?? '0'),
      await checkTexts(em),
      // Tables are as this program knows them, or nobody can say anything of them.
      ...(schema.ok
        ? [...(await checkBalances(em)), ...(await checkRequests(em, config)), await checkNotices(em, config)]
        : []),
    ];
  } catch (error) {
    log.debug({ err: error }, 'the database could not be examined');
    return [
      bad('database', `does not answer: ${reasonOf(error)}`, 'Check DATABASE_URL and that PostgreSQL runs'),
    ];
  } finally {
    await orm.close(true);
  }
}

function checkVersion(version: string, number: string): Finding {
  const major = Math.floor(Number.parseInt(number, 10) / 10_000);
  if (major < MIN_MAJOR)
    return bad(
      'database',
      `PostgreSQL ${version} is too old`,
      `Use PostgreSQL ${MIN_MAJOR} or newer, best 18`,
    );
  return good('database', `PostgreSQL ${version} answers`);
}

/** Whether the schema is recent enough to have this table. */
export async function hasTable(em: Em, name: string): Promise<boolean> {
  return (
    (await firstRow(em, sql<{ there: boolean }>`select to_regclass(${name}) is not null as there`))?.there ===
    true
  );
}

/** Which migrations the database lacks, and which it has that this program does not know. Makes no table. */
export async function readSchema(
  em: Em,
): Promise<{ readonly missing: readonly string[]; readonly ahead: readonly string[] }> {
  const there = await hasTable(em, 'schema_migrations');
  const applied = new Set(
    there
      ? (await rows(em, sql<{ name: string }>`select name from schema_migrations`)).map(({ name }) => name)
      : [],
  );
  const known = MIGRATIONS.map((migration) => migration.name);
  return {
    missing: known.filter((name) => !applied.has(name)),
    ahead: [...applied].filter((name) => !known.includes(name)),
  };
}

async function checkSchema(em: Em): Promise<Finding> {
  const { missing, ahead } = await readSchema(em);
  if (missing.length > 0)
    return bad(
      'schema',
      `the database is behind: ${missing.length} of ${MIGRATIONS.length} migrations are missing`,
      'Run "gateway migrate"',
    );
  if (ahead.length > 0)
    return bad(
      'schema',
      `the database is ahead of this program: ${ahead.slice(0, 3).join(', ')}`,
      'Update this program to the version that wrote it',
    );
  return good('schema', `current (${MIGRATIONS.length} migrations)`);
}

/** Signatures and expiries depend on the clock; where one is wrong, both sides refuse each other. */
function checkClock(oursMs: number, theirs: string): Finding {
  const differenceMs = Math.round(Math.abs(Number.parseInt(theirs, 10) - oursMs));
  if (differenceMs > MAX_CLOCK_DIFFERENCE_MS)
    return bad(
      'clock',
      `this machine and PostgreSQL differ by ${Math.round(differenceMs / 1_000)} s`,
      'Let NTP set the clocks of both',
    );
  return good('clock', `within ${differenceMs} ms of PostgreSQL`);
}

/** Temporal, its namespace and the search attributes that starts name. */
export async function checkTemporal(config: Config, run: Run | undefined): Promise<Finding[]> {
  const { namespace } = config.temporal;
  const address = config.temporal.kind === 'address' ? config.temporal.address : run?.temporalAddress;
  if (address === undefined) return [good('temporal', 'embedded; "gateway start" starts it')];
  const secured =
    config.temporal.kind === 'address' ? { tls: config.temporal.tls, apiKey: config.temporal.apiKey } : {};
  const place = { address, namespace, ...secured };
  const link = linkTemporal(place);
  try {
    await reachTemporal(link, place);
    return [
      good('temporal', `${address} answers, namespace ${namespace}`),
      await checkAttributes(link, namespace),
    ];
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === GRPC_NOT_FOUND)
      return [
        bad(
          'temporal',
          `${address} has no namespace ${namespace}`,
          'Create it, or correct TEMPORAL_NAMESPACE',
        ),
      ];
    return [
      bad(
        'temporal',
        `${address} does not answer: ${reasonOf(error)}`,
        'Check TEMPORAL_ADDRESS and that Temporal runs',
      ),
    ];
  } finally {
    await link.close();
  }
}

async function checkAttributes(link: TemporalLink, namespace: string): Promise<Finding> {
  const missing = await link.client.withDeadline(Date.now() + SEARCH_ATTRIBUTES_WITHIN_MS, () =>
    missingSearchAttributes(link, namespace),
  );
  if (missing.length === 0) return good('search_attributes', 'all registered');
  return bad(
    'search_attributes',
    `missing: ${missing.join(', ')}`,
    'Start a worker ("gateway start --role worker"): it registers them',
  );
}
