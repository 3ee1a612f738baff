import type { AdvanceDecision } from '../../domain/deposit.ts';

/** What an operator can do about a deposit that waits for too long. */
export const ACTIONS: Readonly<Record<(AdvanceDecision & { kind: 'wait' })['waitsFor'], string>> = {
  block:
    'check that the RPC endpoints answer and are in sync ("doctor"), then wait; or "deposit fail" to give it up',
  finality: 'wait until the chain is final again; check the RPC endpoints with "doctor"',
  read: 'check that a worker runs and that the RPC endpoints give old blocks ("doctor"), then wait',
  proof:
    'wait for the hourly comparison of balances, or add an RPC endpoint that offers traces ("doctor" says which do); or compare the transaction with an explorer and run "deposit fail"',
  price: 'check PRICE_SOURCE with "doctor"; the deposit goes on as soon as a price is known',
  operator: 'decide with "deposit fail" or "deposit release"',
};
