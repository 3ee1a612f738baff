import { DEPOSIT_STATES, FAILURE_CODES } from '../../domain/deposit.ts';
import { homeOf } from '../../domain/ledger.ts';

/**
 * {@link homeOf} as a table of SQL, `home (status, failure_code, on_chain, account)`: the state, the code ('' for none), whether the
 * transaction is in a block, and the account in which the deposit's money is then.
 */
export function homesSql(): string {
  const rows = DEPOSIT_STATES.flatMap((state) =>
    (state === 'failed' ? FAILURE_CODES : [null]).flatMap((failureCode) =>
      [true, false].map((onChain) => `('${state}', '${failureCode ?? ''}', ${onChain}, '${homeOf({ state, failureCode, onChain })}')`),
    ),
  );
  return `(values ${rows.join(', ')}) as home (status, failure_code, on_chain, account)`;
}
