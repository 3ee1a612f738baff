import { sql } from '../../db/sql.ts';
import { DEPOSIT_STATES, FAILURE_CODES } from '../../domain/deposit.ts';
import { accountOf } from '../../domain/ledger.ts';

const ROWS = DEPOSIT_STATES.flatMap((state) =>
  (state === 'failed' ? FAILURE_CODES : [null]).flatMap((failureCode) =>
    [true, false].map((onChain) => {
      const account = accountOf({ state, failureCode, onChain });
      return sql`(${sql.join([state, failureCode ?? '', onChain, account].map(sql.lit))})`;
    }),
  ),
);

/**
 * {@link accountOf} as a table of SQL, `home (status, failure_code, on_chain, account)`: the state, the code
 * ('' for none), whether the transaction is in a block, and the account in which the deposit's money is then.
 */
export const ACCOUNTS_OF_STATES = sql`(values ${sql.join(ROWS)})
  as home (status, failure_code, on_chain, account)`;
