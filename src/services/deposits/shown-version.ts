import { type Statement, sql } from '../../db/sql.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import type { Deps } from '../deps.ts';

/**
 * A select of one text, `deposits`, that is another one as soon as one of these deposits is shown otherwise:
 * by its row, or by the confirmations of one that still waits, up to as many as it needs. `which` is the end
 * of a statement that selects them, with its order and a limit.
 */
export function versionOfShown(deps: Deps, which: Statement<unknown>): Statement<unknown> {
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
      from deposits ${which}
    ) d
    left join chain_cursors c on c.network = d.network
    left join (values ${sql.join(required)}) as r(network, required) on r.network = d.network`;
}
