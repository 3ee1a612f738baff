import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { run, sql } from '../../db/sql.ts';
import type { DepositState, FailureCode } from '../../domain/deposit.ts';

/**
 * How a deposit came into the state that it is in now. `from` is null
 * for the first one; `by` is the operator, where a person decided.
 */
export type TrailRow = {
  readonly deposit: Deposit;
  readonly from: DepositState | null;
  readonly reason: string | null;
  readonly by: string | null;
  readonly failureCode: FailureCode | null;
};

/**
 * Writes the audit rows of the states that these deposits entered
 * just now, in one statement. The deposits were flushed before.
 */
export async function recordTransitions(em: Em, rows: readonly TrailRow[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(({ deposit, from, reason, by, failureCode }) => ({
    deposit_id: deposit.id,
    sequence: deposit.sequence,
    from_state: from,
    to_state: deposit.status,
    generation: deposit.generation,
    failure_code: failureCode,
    reason,
    by_name: by,
    at: deposit.stateSince,
  }));
  await run(
    em,
    sql`insert into deposit_transitions (deposit_id, sequence, from_state, to_state, generation, failure_code,
     reason, by_name, at)
     select * from json_to_recordset(${JSON.stringify(values)}::json) as t(deposit_id uuid, sequence int,
       from_state text, to_state text, generation int,
       failure_code text, reason text, by_name text, at timestamptz)`,
  );
}
