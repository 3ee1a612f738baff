import fc from 'fast-check';
import type { LivingFacts, SentFacts } from '../../../src/domain/payouts/facts.ts';
import type { LivingStep } from '../../../src/domain/payouts/step.ts';
import { SENT_STATES, type SentState } from '../../../src/domain/settlement.ts';

// What a payout that is under way is decided from, made up for tests.

export const NOW = new Date('2026-11-24T12:00:00Z');
/** So long before the moment of these tests. */
export const ago = (ms: number): Date => new Date(NOW.getTime() - ms);
const PACE = { resendMs: 15_000, blockLookMs: 500 };
const WELL = { seenAt: ago(1_000), sealedReason: null };
const OURS = SENT_STATES.filter((state) => state !== 'foreign');

/** A transaction of a payout in this state: young, ours, and as it was asked for. */
export function sent(state: SentState, change: Partial<SentFacts> = {}): SentFacts {
  const isSigned = state !== 'asked' && state !== 'dead';
  return {
    id: `${state} ${change.attempt ?? 1}`,
    purpose: 'payout',
    attempt: 1,
    state,
    ok: state === 'mined' || state === 'final' ? true : null,
    refused: null,
    askedAt: ago(20_000),
    signedAt: isSigned ? ago(5_000) : null,
    sentAt: isSigned && state !== 'signed' ? ago(4_000) : null,
    asAsked: state === 'mined' || state === 'final' ? true : null,
    placeTaken: false,
    expired: false,
    ...change,
  };
}

/** A payout and its transactions, with a signer that is well. */
export const facts = (
  state: LivingFacts['state'],
  rows: readonly SentFacts[],
  change: Partial<LivingFacts> = {},
) => ({
  state,
  sent: rows,
  obsolete: null,
  paused: null,
  retriedAt: null,
  signer: WELL,
  now: NOW,
  ...PACE,
  ...change,
});

/** The step in one word: what is done, why it waits, or of which transaction the wallet is woken. */
export const does = (step: LivingStep): string => {
  if (step.does !== 'wait') return step.does;
  return step.wakes === undefined ? step.code : `wakes ${step.wakes}`;
};
/** As `sent`, of a top-up. */
export const gas = (state: SentState, change: Partial<SentFacts> = {}) =>
  sent(state, { purpose: 'gas', ...change });

const anySent: fc.Arbitrary<SentFacts> = fc
  .record({
    state: fc.constantFrom(...OURS),
    purpose: fc.constantFrom('payout', 'gas', 'delegate', 'reclaim' as const),
    attempt: fc.integer({ min: 1, max: 4 }),
    ok: fc.boolean(),
    asAsked: fc.boolean(),
    refused: fc.option(
      fc.constantFrom('terms: x', 'payout: x', 'destination: x', 'limit: x', 'backup: x', 'wallet: x'),
    ),
    age: fc.integer({ min: 0, max: 200_000 }),
    sentAge: fc.integer({ min: 0, max: 20_000 }),
    placeTaken: fc.boolean(),
    expired: fc.boolean(),
  })
  .map(({ state, purpose, attempt, ok, asAsked, refused, age, sentAge, placeTaken, expired }) => {
    const inBlock = state === 'mined' || state === 'final';
    return sent(state, {
      purpose,
      attempt,
      ok: inBlock ? ok : null,
      asAsked: inBlock ? asAsked : null,
      refused: state === 'asked' ? refused : null,
      askedAt: ago(age),
      signedAt: state === 'asked' ? null : ago(age),
      sentAt: state === 'asked' || state === 'signed' ? null : ago(Math.min(age, sentAge)),
      placeTaken: !inBlock && placeTaken,
      expired: !inBlock && expired,
    });
  });
export const anyFacts: fc.Arbitrary<LivingFacts> = fc.record({
  state: fc.constantFrom('planned' as const, 'paying' as const),
  sent: fc.array(anySent, { maxLength: 6 }),
  obsolete: fc.option(fc.constant('another destination')),
  paused: fc.option(fc.constant('paused by Ann')),
  retriedAt: fc.option(fc.integer({ min: 0, max: 200_000 }).map(ago)),
  signer: fc.record({
    seenAt: fc.option(fc.integer({ min: 0, max: 200_000 }).map(ago)),
    sealedReason: fc.option(fc.constant('no passphrase')),
  }),
  now: fc.constant(NOW),
  resendMs: fc.constant(PACE.resendMs),
  blockLookMs: fc.constant(500),
});
