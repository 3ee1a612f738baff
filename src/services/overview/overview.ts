import type { BalanceView } from '../../contract/balance.ts';
import type { DepositView } from '../../contract/deposit.ts';
import { listDeposits } from '../deposits/reads.ts';
import type { Deps } from '../deps.ts';
import { getBalance } from '../ledger/balances.ts';
import { type DayVolume, dailyVolumes } from '../ledger/volumes.ts';
import type { Scope } from '../scope.ts';
import { type EndpointHealth, endpointsInTrouble } from '../webhooks/shown/health.ts';
import { readWaiting, type Waiting } from './waiting.ts';

/** What a merchant sees first. */
export type OverviewView = {
  readonly balance: BalanceView;
  /** The last ones, newest first. */
  readonly deposits: readonly DepositView[];
  readonly waiting: Waiting;
  /** What was credited on each of the last 30 days in UTC, oldest first. */
  readonly days: readonly DayVolume[];
  /** Those in trouble. */
  readonly endpoints: readonly EndpointHealth[];
};

const LAST_DEPOSITS = 10;
const DAYS = 30;

/** The overview of a merchant in a mode. It takes as long with a million deposits as with ten. */
export async function readOverview(deps: Deps, { merchantId, mode }: Scope): Promise<OverviewView> {
  const scope: Scope = { merchantId, mode };
  const em = deps.orm.em.fork();
  // One after the other: whoever reads lists has few connections, and shares them with every merchant.
  const balance = await getBalance(deps, scope);
  const { rows: deposits } = await listDeposits(deps, {
    ...scope,
    page: { limit: LAST_DEPOSITS, uncounted: true },
  });
  const waiting = await readWaiting(em, scope);
  const days = await dailyVolumes(em, scope, { now: deps.now(), days: DAYS });
  const endpoints = await endpointsInTrouble(deps, scope);
  return { balance, deposits, waiting, days, endpoints };
}
