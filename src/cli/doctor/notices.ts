import { bad, type Finding, good } from '../../base/finding.ts';
import type { Config } from '../../config/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, sql } from '../../db/sql.ts';

type Row = {
  readonly open: number;
  readonly untold: number;
  readonly error: string | null;
  readonly toldAt: string | null;
};

/** Whether notices get out: what is open, and how the last try ended. */
export async function checkNotices(em: Em, { notify }: Config): Promise<Finding> {
  if (notify.url === undefined)
    return good('notices', 'off: with NOTIFY_URL the workers tell what needs an operator');
  const row = await firstRow(
    em,
    sql<Row>`select (count(*) filter (where began_at is not null and ended_at is null))::int as open,
        (count(*) filter (where next_try_at is not null))::int as untold,
        (array_agg(last_error order by next_try_at desc)
          filter (where tries > 0 and next_try_at is not null))[1] as error,
        to_char(greatest(max(began_told_at), max(ended_told_at)) at time zone 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS"Z"') as told_at from notices`,
  );
  const { open = 0, untold = 0, error = null, toldAt = null } = row ?? {};
  const last = toldAt === null ? 'none was told yet' : `the last one was told at ${toldAt}`;
  if (error !== null)
    return bad(
      'notices',
      `${untold} could not be told: ${error}; ${last}`,
      'See that the receiver of NOTIFY_URL answers; "notify test" tries it. They are tried again by themselves',
    );
  return good('notices', `${open} open; ${last}`);
}
