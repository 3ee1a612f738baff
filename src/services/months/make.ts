import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { type Month, monthAfter, monthsToMake } from '../../domain/months.ts';
import type { Deps } from '../deps.ts';
import { PARTITIONED_TABLES, partitionOf } from './tables.ts';

/** Lets one worker at a time do this. The number means nothing. */
const LOCK_KEY = 7_204_611;
/**
 * PostgreSQL looks for a deadlock after a second; this is shorter, so it is always this side that gives
 * up, never a transaction of money. It is also the longest that anybody has to wait behind this one.
 */
const LOCK_TIMEOUT = '500ms';
/**
 * Several months at once are some hundred tables and indexes; this
 * is shorter than the silence after which a connection is given up.
 */
const WORK_TIMEOUT = '20s';

/**
 * Makes the partitions of the next three months by the clock of `deps`, and gives the newest ones an end,
 * which until then take every later row. When nobody did that for a long time, the newest ones end behind the
 * next month and are larger than others. It is no error when there is nothing to do, or when another worker
 * does it. Returns the months made. Throws when a lock cannot be had at once: the next turn tries again.
 */
export async function makeMonthsAhead(deps: Deps): Promise<readonly Month[]> {
  const em = deps.orm.em.fork();
  const newest = await newestMonth(em);
  const wanted = newest === undefined ? undefined : monthsToMake(newest, deps.now());
  if (newest === undefined || !wanted) return [];
  await proveEnd(em, newest, wanted.first);
  const made = await em.transactional(async (tx) => {
    const lock = await firstRow(
      tx,
      sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${LOCK_KEY}) as mine,
        set_config('lock_timeout', ${LOCK_TIMEOUT}, true),
          set_config('statement_timeout', ${WORK_TIMEOUT}, true)`,
    );
    if (!lock?.mine || (await newestMonth(tx)) !== newest) return [];
    await run(tx, sql`select make_months(${dayOf(wanted.first)}, ${dayOf(wanted.last)})`);
    await run(tx, sql`select forget_month_ends(${dayOf(newest)})`);
    return monthsBetween(wanted.first, wanted.last);
  });
  if (made.length > 0) deps.log.info({ months: made }, 'partitions were made for the months ahead');
  return made;
}

/** The month with which the newest partitions begin; undefined while there are none. */
export async function newestMonth(em: Em): Promise<Month | undefined> {
  const row = await firstRow(
    em,
    sql<{ month: Month | null }>`select to_char(max(first_month), 'YYYY-MM') as month from partition_months`,
  );
  return row?.month ?? undefined;
}

/**
 * A partition that holds rows is read through when it gets its end, under a lock that keeps
 * everybody out. A check constraint that says the same, and was proven before under a lock that
 * keeps nobody out, avoids that. Partitions that were made ahead of time are empty and need none.
 */
async function proveEnd(em: Em, newest: Month, end: Month): Promise<void> {
  for (const table of PARTITIONED_TABLES) {
    const partition = sql.table(partitionOf(table.name, newest));
    const row = await firstRow(
      em,
      sql<{ used: boolean }>`select exists (select 1 from ${partition}) as used`,
    );
    if (!row?.used) continue;
    await em.transactional(async (tx) => {
      await run(tx, sql`set local lock_timeout = ${sql.lit(LOCK_TIMEOUT)}`);
      await run(tx, sql`select claim_month_end(${table.name}, ${dayOf(newest)}, ${dayOf(end)})`);
    });
    await em.transactional(async (tx) => {
      await run(tx, sql`set local statement_timeout = ${sql.lit(WORK_TIMEOUT)}`);
      await run(tx, sql`select prove_month_end(${table.name}, ${dayOf(newest)})`);
    });
  }
}

function dayOf(month: Month) {
  return sql<string>`${`${month}-01`}::date`;
}

function monthsBetween(first: Month, last: Month): Month[] {
  const months: Month[] = [];
  for (let month = first; month <= last; month = monthAfter(month, 1)) months.push(month);
  return months;
}
