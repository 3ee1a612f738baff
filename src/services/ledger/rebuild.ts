import { IsolationLevel } from '@mikro-orm/core';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';

/** What a rebuild of the totals did. */
export type Rebuilt = {
  /** How many totals there are now. */
  readonly totals: number;
  /** How many balances were another one before. */
  readonly changed: number;
};

const KEY = sql`merchant_id, mode, network, currency, account`;

/**
 * Makes the running totals again from the ledger, which is what counts. It may run beside everything: readers
 * see the old totals until the commit and the new ones from then on, and postings never wait. What is posted
 * meanwhile is in neither the snapshot nor the totals, and its lines stay in `balance_changes` until the next
 * fold. Only folds wait, so that nothing is added twice.
 */
export async function rebuildTotals(deps: Deps, order: { readonly reason: string }): Promise<Rebuilt> {
  for (let tries = 1; ; tries += 1)
    try {
      return await deps.orm.em.fork().transactional((em) => rebuiltWithin(em, deps, order), {
        isolationLevel: IsolationLevel.REPEATABLE_READ,
      });
    } catch (error) {
      // A fold committed between the snapshot and the lock: nothing was changed, and the next try sees it.
      if (tries === MAX_TRIES || !isMet(error)) throw error;
    }
}

async function rebuiltWithin(em: Em, deps: Deps, { reason }: { readonly reason: string }): Promise<Rebuilt> {
  // Before anything is read, which is when the snapshot is taken.
  await run(em, sql`lock table balance_totals in share row exclusive mode`);
  // A grown ledger takes longer than what the service may take for a statement.
  await run(em, sql`set local statement_timeout = 0`);
  const differing = await firstRow(em, DIFFERING);
  await run(em, sql`delete from balance_changes`);
  await run(em, sql`delete from balance_totals`);
  const totals = await run(
    em,
    sql`insert into balance_totals (${KEY}, amount_units, posted_at)
      select e.merchant_id, e.mode, e.network, e.currency, e.account, sum(e.amount_units), max(t.created_at)
      from ledger_entries e join ledger_transactions t on t.id = e.transaction_id
      group by 1, 2, 3, 4, 5`,
  );
  const rebuilt = { totals, changed: differing?.changed ?? 0 };
  await recordAction(em, deps, { action: 'totals.rebuild', subject: 'balances', after: rebuilt, reason });
  return rebuilt;
}

const MAX_TRIES = 20;
/** PostgreSQL's codes for two transactions that met: the one that is told has changed nothing. */
const MET: readonly unknown[] = ['40001', '40P01', '55P03'];

function isMet(error: unknown): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth < 4; one = one.cause, depth += 1)
    if ('code' in one && MET.includes(one.code)) return true;
  return false;
}

/** How many sums of the ledger are not what readers of the totals are told. */
const DIFFERING = sql<{ changed: number }>`select count(*)::int as changed from (
    select ${KEY}, sum(amount_units) as units from (
      select ${KEY}, amount_units from balance_totals
      union all select ${KEY}, amount_units from balance_changes
    ) kept group by 1, 2, 3, 4, 5
  ) was full join (
    select ${KEY}, sum(amount_units) as units from ledger_entries group by 1, 2, 3, 4, 5
  ) now using (${KEY})
  where coalesce(was.units, 0) <> coalesce(now.units, 0)`;
