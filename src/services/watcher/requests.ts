// How many requests of the present day were sent to a chain's endpoints, by all processes together.
import type { AddRequests } from '../../chains/pace.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/**
 * The sum of all processes in the database. A day that is over is forgotten; what comes for it after midnight
 * is of no use to anybody.
 */
export function requestsIn(deps: Pick<Deps, 'orm'>, network: Network): AddRequests {
  return async ({ day, used }) => {
    const row = await firstRow(
      deps.orm.em.fork(),
      sql<{ used: number }>`
        insert into chain_requests as r (network, day, used) values (${network}, ${day}, ${used})
        on conflict (network) do update
          set day = case when r.day = excluded.day + 1 then r.day else excluded.day end,
          used = case r.day when excluded.day then r.used + excluded.used
            when excluded.day + 1 then r.used else excluded.used end
        returning case when day = ${day}::date then used else 0 end as used`,
    );
    return row?.used ?? used;
  };
}
