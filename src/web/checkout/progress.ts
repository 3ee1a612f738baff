import type { PublicPaymentView } from '../../contract/payment-link.ts';
import type { Network } from '../../domain/assets.ts';
import { CREDITED_STATES } from '../../domain/deposit.ts';
import type { Words } from '../words/index.ts';

/** Confirmations that a payment needs, by network. */
export type Required = Readonly<Record<Network, number>>;

/** Why a payment failed, as its payer is told it: why money is held is between the shop and its customer. */
export function whyFailed(
  { status, failure_code: code }: Pick<PublicPaymentView['transactions'][number], 'status' | 'failure_code'>,
  { failures }: Words,
): { readonly why?: string } {
  if (status !== 'failed') return {};
  return { why: code === 'REORGED' || code === 'BELOW_MINIMUM' ? failures[code] : failures.other };
}

type Transaction = Pick<PublicPaymentView['transactions'][number], 'network' | 'status' | 'confirmations'>;

/** How far a transaction is, as figures and in words. */
export type Progress = { readonly done: number; readonly needed: number; readonly text: string };

/** "3 of 15 confirmations", or what became of it. */
export function progressOf(row: Transaction, required: Required, { confirmations }: Words): Progress {
  const needed = required[row.network];
  if (row.status === 'failed') return { done: 0, needed, text: confirmations.failed };
  if (CREDITED_STATES.includes(row.status)) return { done: needed, needed, text: confirmations.done };
  // The count goes on while finality is awaited; "17 of 15" would only confuse.
  const done = Math.min(row.confirmations, needed);
  return {
    done,
    needed,
    text: done < needed ? confirmations.progress(done, needed) : confirmations.last(needed),
  };
}
