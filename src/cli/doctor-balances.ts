import type { Em } from '../db/orm.ts';
import { bad, type Check, good } from './doctor-check.ts';

/** How the comparison of balances on the chain with the ledger goes, one check for each network that was compared; none before the first round. */
export async function checkBalances(em: Em): Promise<Check[]> {
  const [table] = await em.execute<{ there: boolean }[]>(`select to_regclass('balance_rounds') is not null as there`);
  if (!table?.there) return [];
  const rounds = await em.execute<{ network: string; fault: string | null; started_number: string; differences: number }[]>(
    `select r.network, r.fault, r.started_number::text, (select count(*)::int from balance_differences d
       where d.network = r.network and d.difference_units <> d.before_units) as differences
     from balance_rounds r order by r.network`,
  );
  return rounds.map(({ network, fault, started_number: block, differences }) => {
    const name = `balances_${network}`;
    if (fault !== null)
      return bad(
        name,
        `the comparison with the ledger does not go on: ${fault}`,
        'Use an endpoint that keeps the state of the last 100 blocks',
      );
    if (differences > 0)
      return bad(
        name,
        `${differences} balances differ from the ledger`,
        `Run "gateway reconcile --network ${network}" and compare them with an explorer`,
      );
    return good(name, `compared with the ledger from block ${block} on; none differs`);
  });
}
