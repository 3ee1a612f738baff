import type { Reconciled } from '../reconcile.ts';
import type { Difference } from './compare.ts';

/** The gateway's own comparison of balances finds nothing, but for the wallet out of which the run itself spent. */
export function compareReconciled({ left, refused }: Pick<Reconciled, 'left' | 'refused'>, spender: string | undefined): Difference[] {
  const rule = 'balances agree with the ledger';
  const found: Difference[] = refused === undefined ? [] : [{ rule, subject: 'reconcile', detail: refused }];
  for (const { address, currency, difference, reason } of left)
    if (address.toLowerCase() !== spender || !difference.startsWith('-'))
      found.push({ rule, subject: `${address} ${currency}`, detail: `${difference}: ${reason}` });
  return found;
}
