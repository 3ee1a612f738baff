import { rows, sql } from '../../db/sql.ts';
import { versionOfShown } from '../deposits/shown-version.ts';
import type { Deps } from '../deps.ts';
import { LATE_OF_LINK, OF_LINK } from './present.ts';

/**
 * The links among these (version by token) that may show their payer something else than they did at that
 * version, each with its version of now; a link that was not read before has the version ''. Tokens of no
 * link are left out. One statement for any number of links. What moves a version is the row of the link,
 * which every assigned deposit changes, the rows of the deposits that are shown, also as too late, the
 * confirmations of those that still wait, up to as many as they need, and the name of the merchant. Times are
 * no part of it: what the clock alone changes, like the end of the time to pay, the caller has to see itself.
 */
export async function changedLinks(
  deps: Deps,
  versions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (versions.size === 0) return new Map();
  const ofLink = sql`where id in (select id from (${OF_LINK}) sent)`;
  const late = sql`where id in (select id from (${LATE_OF_LINK}) late)`;
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ token: string; version: string }>`
      select l.token, now.version
      from unnest(${[...versions.keys()]}::text[], ${[...versions.values()]}::text[]) as known(token, version)
      join payment_links l on l.token = known.token
      join merchants m on m.id = l.merchant_id
      left join lateral (${versionOfShown(deps, ofLink)}) shown on true
      left join lateral (${versionOfShown(deps, late)}) too_late on true
      cross join lateral (
        select md5(concat_ws(' ', l.xmin, m.name, shown.deposits, '|', too_late.deposits)) as version
      ) now
      where now.version <> known.version`,
  );
  return new Map(found.map(({ token, version }) => [token, version]));
}
