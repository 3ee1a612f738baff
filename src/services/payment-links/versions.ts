import { rows, type Statement, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import type { Deps } from '../deps.ts';
import { MAX_TRANSACTIONS_SHOWN } from './present.ts';

/**
 * The links among these (version by token) that may show their payer something else than they did at that
 * version, each with its version of now; a link that was not read before has the version ''. Tokens of no
 * link are left out. One statement for any number of links. What moves a version is the row of the link,
 * which every assigned deposit changes, the rows of the deposits that are shown, the confirmations of
 * those that still wait, up to as many as they need, and the name of the merchant. Times are no part of
 * it: what the clock alone changes, like the end of the time to pay, the caller has to see by itself.
 */
export async function changedLinks(
  deps: Deps,
  versions: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  if (versions.size === 0) return new Map();
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ token: string; version: string }>`
      select l.token, now.version
      from unnest(${[...versions.keys()]}::text[], ${[...versions.values()]}::text[]) as known(token, version)
      join payment_links l on l.token = known.token
      join merchants m on m.id = l.merchant_id
      left join lateral (${shownOf(deps)}) shown on true
      cross join lateral (select md5(concat_ws(' ', l.xmin, m.name, shown.deposits)) as version) now
      where now.version <> known.version`,
  );
  return new Map(found.map(({ token, version }) => [token, version]));
}

/** The deposits of the link `l` that are shown, as one text. */
function shownOf(deps: Deps): Statement<unknown> {
  const required = Object.entries(deps.settings.requiredConfirmations).map(
    ([network, blocks]) => sql`(${network}::text, ${blocks}::int)`,
  );
  return sql`
    select string_agg(concat_ws(' ', d.version, case when d.waits then
        least(greatest(coalesce(c.head_number - d.block_number, 0), 0), r.required) end),
      ',' order by d.created_at, d.id) as deposits
    from (
      select id, network, block_number, created_at, xmin::text as version,
        status = any(${WAITING_STATES}) and not simulated as waits
      from deposits where payment_link_id = l.id order by created_at, id limit ${MAX_TRANSACTIONS_SHOWN}
    ) d
    left join chain_cursors c on c.network = d.network
    left join (values ${sql.join(required)}) as r(network, required) on r.network = d.network`;
}
