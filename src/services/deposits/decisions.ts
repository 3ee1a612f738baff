import { Refused } from '../../base/errors.ts';
import type { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import type { Deps } from '../deps.ts';

/** Who decided and why: kept in the audit trail for ever. */
export type Decision = {
  readonly depositId: string;
  readonly by: string;
  readonly reason: string;
  /** Only this generation of the deposit: one that came back later is another case. Any where absent. */
  readonly generation?: number;
};

/** An operator's request that the deposit's state does not permit. The message says why and ends with what to do. Nothing was changed. */
export class DecisionRefused extends Refused {
  override readonly name = 'DecisionRefused';
}

/**
 * Writes down that an operator decided to fail this deposit in its present generation, in a transaction of its own: before anybody is asked to
 * carry it out, so that whoever is asked can tell it from a text that somebody typed into Temporal. A repetition writes nothing.
 */
export async function recordDecision(deps: Deps, { depositId, by, reason }: Decision): Promise<void> {
  await deps.orm.em.fork().execute(
    `insert into deposit_decisions (id, deposit_id, generation, by_name, reason, at)
     select ?, d.id, d.generation, ?, ?, ? from deposits d where d.id = ? and not exists (
       select 1 from deposit_decisions e where e.deposit_id = d.id and e.generation = d.generation and e.by_name = ? and e.reason = ?)`,
    [deps.newId(), by, reason, deps.now(), depositId, by, reason],
  );
}

/** Throws {@link DecisionRefused} where nobody recorded this decision about the deposit as it is: the database would refuse it too. */
export async function requireDecision(em: Em, deposit: Deposit, { by, reason }: Pick<Decision, 'by' | 'reason'>): Promise<void> {
  const rows = await em.execute<unknown[]>(
    'select 1 from deposit_decisions where deposit_id = ? and generation = ? and by_name = ? and reason = ? limit 1',
    [deposit.id, deposit.generation, by, reason],
  );
  if (rows.length === 0) {
    throw new DecisionRefused(
      `no operator's decision of this name and reason is recorded for deposit ${deposit.id}; decide with "gateway deposit fail"`,
    );
  }
}
