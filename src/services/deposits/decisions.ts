import { Refused } from '../../base/errors.ts';
import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Deps } from '../deps.ts';

/** Who decided and why: kept in the audit trail for ever. */
export type Decision = {
  readonly depositId: string;
  readonly by: string;
  readonly reason: string;
  /** Only this generation of the deposit: one that came back later is another case. Unset means any. */
  readonly generation?: number;
};

/**
 * An operator's request that the deposit's state does not permit. The
 * message says why and ends with what to do. Nothing was changed.
 */
export class DecisionRefused extends Refused {
  override readonly name = 'DecisionRefused';
}

/**
 * Writes down that an operator decided to fail this deposit in its present generation, in a
 * transaction of its own. This comes before anybody is asked to carry it out, so that they can
 * tell the decision from a text that somebody typed into Temporal. A repetition writes nothing.
 */
export async function recordDecision(deps: Deps, { depositId, by, reason }: Decision): Promise<void> {
  await run(
    deps.orm.em.fork(),
    sql`insert into deposit_decisions (id, deposit_id, generation, by_name, reason, at)
     select ${deps.newId()}, d.id, d.generation, ${by}, ${reason}, ${deps.now()} from deposits d
       where d.id = ${depositId} and not exists (
       select 1 from deposit_decisions e where e.deposit_id = d.id and e.generation = d.generation
         and e.by_name = ${by} and e.reason = ${reason})`,
  );
}

/**
 * Throws {@link DecisionRefused} if nobody recorded this decision
 * about the deposit as it is: the database would refuse it too.
 */
export async function requireDecision(
  em: Em,
  deposit: Deposit,
  { by, reason }: Pick<Decision, 'by' | 'reason'>,
): Promise<void> {
  const recorded = await firstRow(
    em,
    sql`select 1 from deposit_decisions
     where deposit_id = ${deposit.id} and generation = ${deposit.generation} and by_name = ${by}
       and reason = ${reason} limit 1`,
  );
  if (!recorded) {
    throw new DecisionRefused(
      `no operator's decision of this name and reason is recorded for deposit ${deposit.id}; decide with "gateway deposit fail"`,
    );
  }
}
