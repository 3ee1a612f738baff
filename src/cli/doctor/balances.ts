import { bad, type Finding, good } from '../../base/finding.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';

type Row = {
  readonly network: string;
  readonly fault: string | null;
  readonly startedNumber: string | null;
  readonly differences: number;
  readonly replaced: string[] | null;
  readonly misattributed: string[] | null;
};

const SHOWN = 3;

/**
 * The state of the reconciliation passes, one check for each network that was compared or that holds credited
 * money without a block; such money is a difference at once, whatever the last pass has seen.
 */
export async function checkBalances(em: Em): Promise<Finding[]> {
  const networks = await rows(
    em,
    sql<Row>`select n.network, r.fault, r.started_number::text,
       (select count(*)::int from balance_differences d
          where d.network = n.network
            and d.difference_units - d.replaced_units <> d.before_units) as differences,
       (select array_agg(d.id::text order by d.block_number, d.id) from deposits d
         where d.network = n.network and d.block_hash is null
          and d.status in ('completed', 'settled') and d.mode = 'live' and not d.simulated) as replaced,
       (select array_agg(d.id::text order by d.completed_at, d.id) from deposits d where d.network = n.network
          and d.proven_units is not null and d.proven_units <> d.amount_units
          and d.status in ('completed', 'settled')) as misattributed
     from (select network from balance_rounds union select network from chain_cursors) n
       left join balance_rounds r using (network)
     order by n.network`,
  );
  return networks.flatMap(checkOf);
}

function checkOf({
  network,
  fault,
  startedNumber: block,
  differences,
  replaced,
  misattributed,
}: Row): Finding[] {
  const name = `balances_${network}`;
  const look = `Run "gateway reconcile --network ${network}"`;
  if (replaced)
    return [
      bad(
        name,
        `${named(replaced)}: credited, and the block was replaced`,
        'Run "gateway deposit stuck", which says what to decide about each',
      ),
    ];
  if (fault !== null && /^\d+ of \d+ differences could not be searched/.test(fault))
    return [bad(name, fault, `${look} when "gateway doctor" finds the endpoints in order`)];
  if (fault !== null && /^the requests that a day allows/.test(fault))
    return [bad(name, fault, 'Allow more requests a day in the settings of this chain, where the key does')];
  if (fault !== null)
    return [
      bad(
        name,
        `the comparison with the ledger does not go on: ${fault}`,
        'Use an endpoint that keeps the state of the last 100 blocks',
      ),
    ];
  if (differences > 0)
    return [
      bad(
        name,
        `${differences} balances differ from the ledger`,
        `${look} and compare them with an explorer`,
      ),
    ];
  if (block === null) return [];
  const note = misattributed
    ? `; ${named(misattributed)}: credited with another amount than its transaction carried, see "reconcile"`
    : '';
  return [good(name, `compared with the ledger from block ${block} on; none differs${note}`)];
}

function named(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
  return `${ids.length === 1 ? 'deposit' : 'deposits'} ${ids.slice(0, SHOWN).join(', ')}${more}`;
}
