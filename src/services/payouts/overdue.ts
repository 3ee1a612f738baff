import { firstRow, literals, sql } from '../../db/sql.ts';
import { LIVING_PAYOUTS } from '../../domain/settlement.ts';
import type { Deps } from '../deps.ts';

const COUNTED = 10_000;
/** Longer than any pause between two looks at an address whose payout is under way. */
const LEFT_ALONE_MS = 15 * 60_000;

/**
 * Addresses that are not paid out by themselves, as far as rows say. What was lent for a payout that is over
 * is none of these: nobody's money waits for it, a repair starts its actor within ten minutes, and the row
 * that this writes while it waits counts as every other one.
 */
export type OverduePayouts = {
  /** Addresses that wait for a person, whom nobody has told of anything better since. */
  readonly alarmed: number;
  /** Payouts under way that nobody has looked at for a quarter of an hour, or `STUCK_AFTER`. */
  readonly leftAlone: number;
  /** What the first of those that wait says. */
  readonly first: string | null;
};

/** Counts at most 10,000 of each; neither an actor nor a worker has to be alive for it. */
export async function readOverduePayouts(deps: Deps): Promise<OverduePayouts> {
  const before = leftAloneBefore(deps);
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<OverduePayouts>`select
      (select count(*) from (select 1 from settlement_waits where alarmed_at is not null
        limit ${COUNTED}) w)::int as alarmed,
      (select address || ' on ' || network || ': ' || reason from settlement_waits
        where alarmed_at is not null order by alarmed_at limit 1) as first,
      (select count(*) from (select 1 from payouts p
        where p.state in ${literals(LIVING_PAYOUTS)} and not p.simulated and p.state_since <= ${before}
          and not exists (select 1 from settlement_waits s where s.network = p.network
            and s.address_key = p.address_key and s.updated_at > ${before})
        limit ${COUNTED}) p)::int as left_alone`,
  );
  return row ?? { alarmed: 0, leftAlone: 0, first: null };
}

/** A payout under way that nobody has looked at since this time is left alone. */
export function leftAloneBefore({ now, settings }: Pick<Deps, 'now' | 'settings'>): Date {
  return new Date(now().getTime() - Math.max(LEFT_ALONE_MS, settings.stuckAfterMs));
}
