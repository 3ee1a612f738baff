import type { Currency, Network } from '../../domain/assets.ts';
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
  /** When the one that has been in this state longest came into it. */
  readonly since: Date;
};

const STATES: Readonly<Partial<Record<LedgerAccount, MoneyAtRest['state']>>> = { available: 'completed', settled: 'settled', held: 'held' };

/**
 * The running totals, and the lines that are not in them yet: as many rows as merchants have accounts, however long the history. Without
 * parameters, so that a test can ask PostgreSQL how it is answered.
 */
export const AT_REST_SQL = `select network, currency, account, sum(amount_units)::text as units from (
    select network, currency, account, amount_units from balance_totals where mode = 'live' and account in ('available', 'settled', 'held')
    union all
    select network, currency, account, amount_units from balance_changes where mode = 'live' and account in ('available', 'settled', 'held')
  ) parts group by 1, 2, 3`;

/** Reads only what waits, by the partial index of it. */
export const OPEN_SQL = `select network, currency, status, count(*)::int as count, sum(amount_units)::text as units, min(state_since)::text as since
  from deposits where status in ('detected', 'confirming') and not simulated and mode = 'live' group by 1, 2, 3`;

/** Live money of all merchants that is credited, paid out or held, from one snapshot of the ledger. What is nowhere has no row. */
export async function readMoneyAtRest(deps: Pick<Deps, 'orm'>): Promise<MoneyAtRest[]> {
  const rows = await deps.orm.em
    .fork()
    .execute<{ network: Network; currency: Currency; account: LedgerAccount; units: string }[]>(AT_REST_SQL);
  return rows.flatMap(({ network, currency, account, units }) => {
    const state = STATES[account];
    return state ? [{ network, currency, state, units: BigInt(units) }] : [];
  });
}

/** Live deposits of all merchants that wait for the chain. A state in which none waits has no row. */
export async function readOpenDeposits(deps: Pick<Deps, 'orm'>): Promise<OpenDeposits[]> {
  type Row = { network: Network; currency: Currency; status: OpenDeposits['state']; count: number; units: string; since: string };
  const rows = await deps.orm.em.fork().execute<Row[]>(OPEN_SQL);
  return rows.map(({ status, units, since, ...row }) => ({ ...row, state: status, units: BigInt(units), since: new Date(since) }));
}
