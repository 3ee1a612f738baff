// How many requests of the present day were sent to a chain's endpoints, by all processes together.
import type { RequestCount } from '../../chains/pace.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/**
 * Adds what this process has sent, and learns what the others have. A day that is over is forgotten; what
 * comes for it after midnight is of no use to anybody.
 */
export async function shareRequests(deps: Deps, network: Network, requests: RequestCount): Promise<void> {
  await requests.share(async ({ day, used }) => {
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
  });
}
