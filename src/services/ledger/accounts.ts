import { sql } from '../../db/sql.ts';
import { DEPOSIT_STATES, FAILURE_CODES } from '../../domain/deposit.ts';
import { cameIn, partsOf, type Standing } from '../../domain/ledger.ts';

const STANDINGS: readonly Standing[] = DEPOSIT_STATES.flatMap((state) =>
  (state === 'failed' ? FAILURE_CODES : [null]).flatMap((failureCode) =>
    [true, false].map((onChain) => ({ state, failureCode, onChain })),
  ),
);

const textsOf = ({ state, failureCode, onChain }: Standing) => [state, failureCode ?? '', onChain];
const tuple = (values: readonly unknown[]) => sql`(${sql.join(values.map(sql.lit))})`;

const HOMES = STANDINGS.flatMap((standing) =>
  partsOf(standing).map(([account, part]) => tuple([...textsOf(standing), account, part])),
);

const STANDING_OF_D = sql`(d.status, coalesce(d.failure_code, ''), d.block_hash is not null)`;

/** {@link partsOf} as SQL: joined to `deposits d`, one row of `home` for each account that holds of it. */
export const JOIN_HOMES = sql`join (values ${sql.join(HOMES)})
  as home (status, failure_code, on_chain, account, part)
  on (home.status, home.failure_code, home.on_chain) = ${STANDING_OF_D}`;

/** How much of `deposits d` the account in its row of {@link JOIN_HOMES} holds. */
export const HOME_UNITS = sql`case home.part
  when 'whole' then d.amount_units
  when 'net' then coalesce(d.settled_units, d.amount_units)
  when 'fee' then d.amount_units - coalesce(d.settled_units, d.amount_units)
  when 'loss' then -d.amount_units end`;

/** {@link cameIn} as a condition on `deposits d`. */
export const CAME_IN = sql`${STANDING_OF_D} in (${sql.join(
  STANDINGS.filter(cameIn).map((standing) => tuple(textsOf(standing))),
)})`;
