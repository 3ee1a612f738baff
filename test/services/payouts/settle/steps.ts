// What steps of a payout say, for tests that wait for one.
import type { SettlementStep } from '../../../../src/services/payouts/settle/context.ts';

/** What it did, or why it waits. */
export const wordsOf = (step: SettlementStep | undefined): string =>
  step ? ('note' in step ? step.note : step.reason) : '';

/** Why it waits; nothing where it does not. */
export const reasonOf = (step: SettlementStep | undefined): string =>
  step?.kind === 'wait' ? step.reason : '';

/** Whether a step says this, be it done or a wait. */
export const says =
  (words: string | RegExp) =>
  (step: SettlementStep): boolean =>
    typeof words === 'string' ? wordsOf(step).includes(words) : words.test(wordsOf(step));

/** Whether bytes were sent, whatever for. */
export const isSent = (step: SettlementStep): boolean => step.kind === 'went' && step.note.endsWith(': sent');

/** The transfer itself was sent, and not what comes before it. */
export const isPaid = (step: SettlementStep): boolean =>
  isSent(step) && 'state' in step && step.state === 'paying';

/** Its transfer is asked for, or further. */
export const isPaying = (step: SettlementStep): boolean => step.kind === 'went' && step.state === 'paying';
