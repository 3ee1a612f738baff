import { literals, rows, sql } from '../../db/sql.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import type { Deps } from '../deps.ts';

/** Live money of one asset that lies in one place, in base units. */
export type MoneyAtRest = {
  readonly network: Network;
  readonly currency: Currency;
  readonly state: 'completed' | 'settled' | 'held';
  readonly units: bigint;
};

/** The live deposits of one asset that wait in one state. */
export type OpenDeposits = {
  readonly network: Network;
  readonly currency: Currency;
  readonly state: 'detected' | 'confirming';
  readonly count: number;
  readonly units: bigint;
  /** When the deposit that has been in this state longest came into it. */
  readonly since: Date;
};

const STATES = { available: 'completed', settled: 'settled', held: 'held' } as const satisfies Partial<
  Record<LedgerAccount, string>
>;
const ACCOUNTS = Object.keys(STATES);

/**
 * The running totals, and the lines that are not in them yet: as
 * many rows as merchants have accounts, however long the history.
 */
export const MONEY_AT_REST = sql<{
  network: Network;
  currency: Currency;
  account: keyof typeof STATES;
  units: string;
}>`
  select network, currency, account, sum(amount_units)::text as units from (
    select network, currency, account, amount_units from balance_totals
      where mode = 'live' and account = any(${ACCOUNTS})
    union all
    select network, currency, account, amount_units from balance_changes
      where mode = 'live' and account = any(${ACCOUNTS})
  ) parts group by 1, 2, 3`;

/** Reads only the deposits that wait, by the partial index of them. */
export const OPEN_DEPOSITS = sql<Omit<OpenDeposits, 'units' | 'since'> & { units: string; since: string }>`
  select network, currency, status as state, count(*)::int as count, sum(amount_units)::text as units,
    min(state_since)::text as since
  from deposits where status in ${literals(WAITING_STATES)} and not simulated and mode = 'live'
    group by 1, 2, 3`;

/**
 * Live money of all merchants that is credited, paid out or held,
 * from one snapshot of the ledger. A place without money has no row.
 */
export async function readMoneyAtRest(deps: Pick<Deps, 'orm'>): Promise<MoneyAtRest[]> {
  const found = await rows(deps.orm.em.fork(), MONEY_AT_REST);
  return found.map(({ account, units, ...asset }) => ({
    ...asset,
    state: STATES[account],
    units: BigInt(units),
  }));
}

/** Live deposits of all merchants that wait for the chain. A state in which none waits has no row. */
export async function readOpenDeposits(deps: Pick<Deps, 'orm'>): Promise<OpenDeposits[]> {
  const found = await rows(deps.orm.em.fork(), OPEN_DEPOSITS);
  return found.map((row) => ({ ...row, units: BigInt(row.units), since: new Date(row.since) }));
}
