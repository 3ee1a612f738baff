/**
 * The life of a deposit. This table is the only definition of which state may follow
 * which; the database holds the same table in a trigger, and a test compares the two.
 */
export const DEPOSIT_STATES = ['detected', 'confirming', 'completed', 'settled', 'failed'] as const;
export type DepositState = (typeof DEPOSIT_STATES)[number];

/** Whether a text is the name of a state. */
export function isDepositState(text: string): text is DepositState {
  return (DEPOSIT_STATES as readonly string[]).includes(text);
}

/** "19 of 19", as people are told it: the count goes on while finality is awaited, which only confuses. */
export function confirmationsText(confirmations: number, needed: number): string {
  return `${Math.min(confirmations, needed)} of ${needed}`;
}

export const FAILURE_CODES = ['MONTHLY_LIMIT', 'REORGED', 'BELOW_MINIMUM', 'REJECTED_BY_OPERATOR'] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * Failures whose money did arrive: an operator may release them. A reorged deposit has no money to release.
 */
export const RELEASABLE_CODES: readonly FailureCode[] = [
  'MONTHLY_LIMIT',
  'BELOW_MINIMUM',
  'REJECTED_BY_OPERATOR',
];

/** The states in which a deposit may begin. It passes through every other one, also when it is simulated. */
export const FIRST_STATES: readonly DepositState[] = ['detected'];

export const TRANSITIONS: Readonly<Record<DepositState, readonly DepositState[]>> = {
  detected: ['confirming', 'failed'],
  confirming: ['completed', 'failed'],
  completed: ['settled', 'failed'],
  settled: [],
  failed: ['detected', 'completed'],
};

export type TransitionFacts = {
  /** null at the deposit's birth. */
  readonly from: DepositState | null;
  readonly to: DepositState;
  /**
   * The code the deposit failed with, where `from` is failed; the code it fails with, where `to` is failed.
   */
  readonly failureCode: FailureCode | null;
};

/**
 * Whether a transition is allowed. `failed → detected` only after REORGED, `failed
 * → completed` only for the releasable codes, and into `failed` only with a code.
 */
export function mayTransition({ from, to, failureCode }: TransitionFacts): boolean {
  const next = from === null ? FIRST_STATES : TRANSITIONS[from];
  if (!next.includes(to)) return false;
  if (to === 'failed') return failureCode !== null;
  if (from !== 'failed') return true;
  if (failureCode === null) return false;
  return to === 'detected' ? failureCode === 'REORGED' : RELEASABLE_CODES.includes(failureCode);
}

/**
 * True for the birth and for the two edges that lead back; each
 * starts a new generation of the deposit (and of its actor).
 */
export function startsGeneration(from: DepositState | null): boolean {
  return from === null || from === 'failed';
}

/** States in which the actor waits for the chain. */
export const WAITING_STATES: readonly DepositState[] = ['detected', 'confirming'];

/** States in which the merchant has the money. */
export const CREDITED_STATES: readonly DepositState[] = ['completed', 'settled'];

/**
 * The states that lie between two others on the happy path, so
 * that a catch-up passes each of them and sends each event.
 */
export function happyPath(to: DepositState): readonly DepositState[] {
  const way: DepositState[] = ['detected', 'confirming', 'completed', 'settled'];
  const end = way.indexOf(to);
  return end < 0 ? ['detected', 'failed'] : way.slice(0, end + 1);
}

/**
 * What `advance` decides on: a deposit, the chain as the watcher last
 * wrote it, and whether a price is at hand.
 */
export type AdvanceFacts = {
  readonly state: DepositState;
  readonly blockNumber: number;
  /** null while the deposit's block is orphaned. */
  readonly blockHash: string | null;
  readonly verified: boolean;
  readonly requiredConfirmations: number;
  readonly headNumber: number;
  readonly finalizedNumber: number;
  /** Every block up to this one was read a second time after it became final. */
  readonly verifiedNumber: number;
  readonly belowMinimum: boolean;
  readonly priced: boolean;
  readonly currency: string;
};

export type AdvanceDecision =
  | {
      readonly kind: 'move';
      readonly to: DepositState;
      readonly failureCode: FailureCode | null;
      readonly reason: string | null;
    }
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly waitsFor: 'block' | 'finality' | 'read' | 'proof' | 'price' | 'operator';
    }
  | { readonly kind: 'rest' };

/**
 * The next step that the chain permits, or why there is none. Pure: the same facts give the same decision.
 */
export function decideAdvance(facts: AdvanceFacts): AdvanceDecision {
  if (facts.state === 'completed' || facts.state === 'settled' || facts.state === 'failed')
    return { kind: 'rest' };
  if (facts.blockHash === null) {
    if (facts.verifiedNumber >= facts.blockNumber && facts.finalizedNumber >= facts.blockNumber) {
      const reason = `its block ${facts.blockNumber} was replaced and no final block holds the transaction`;
      return { kind: 'move', to: 'failed', failureCode: 'REORGED', reason };
    }
    return {
      kind: 'wait',
      reason: `block ${facts.blockNumber} was replaced; waiting for finality to decide`,
      waitsFor: 'finality',
    };
  }
  const confirmations = Math.max(0, facts.headNumber - facts.blockNumber);
  if (facts.state === 'detected') {
    if (confirmations < 1)
      return { kind: 'wait', reason: `0 of ${facts.requiredConfirmations} confirmations`, waitsFor: 'block' };
    return { kind: 'move', to: 'confirming', failureCode: null, reason: null };
  }
  return decideCompletion(facts, confirmations);
}

function decideCompletion(facts: AdvanceFacts, confirmations: number): AdvanceDecision {
  if (confirmations < facts.requiredConfirmations) {
    return {
      kind: 'wait',
      reason: `${confirmations} of ${facts.requiredConfirmations} confirmations`,
      waitsFor: 'block',
    };
  }
  if (facts.finalizedNumber < facts.blockNumber) {
    return {
      kind: 'wait',
      reason: `block ${facts.blockNumber} is not final yet: finality stands at ${facts.finalizedNumber}`,
      waitsFor: 'finality',
    };
  }
  // A transfer that left a log is in the second read, or it did not happen; but what a contract
  // passed on may have been shown by one trace alone.
  if (facts.verifiedNumber < facts.blockNumber || (!facts.verified && facts.currency === 'USDT')) {
    return {
      kind: 'wait',
      reason: `block ${facts.blockNumber} is final and waits for its second read`,
      waitsFor: 'read',
    };
  }
  if (!facts.verified)
    return {
      kind: 'wait',
      reason: `a trace alone showed what came in block ${facts.blockNumber}: it waits for the traces of two endpoints or a balance`,
      waitsFor: 'proof',
    };
  if (facts.belowMinimum)
    return {
      kind: 'move',
      to: 'failed',
      failureCode: 'BELOW_MINIMUM',
      reason: 'the amount is below the smallest deposit that is credited',
    };
  if (!facts.priced) return { kind: 'wait', reason: `no price for ${facts.currency} yet`, waitsFor: 'price' };
  return { kind: 'move', to: 'completed', failureCode: null, reason: null };
}

/**
 * Shortest and longest pause between two tries of a waiting deposit to advance. 0 would end
 * the activity: the server reads it as "no retry".
 */
export const MIN_WAIT_MS = 1_000;
export const MAX_WAIT_MS = 60_000;
/**
 * Pause of a deposit on a chain that stands still: the watcher wakes it when the
 * chain moves, so this is only a fallback.
 */
export const STILL_WAIT_MS = 15 * 60_000;

/**
 * Half of the time until the decision can change, within the limits. Any input
 * (NaN, negative, infinite) gives a valid pause.
 */
export function waitDelayMs(untilChangeMs: number): number {
  if (Number.isNaN(untilChangeMs)) return MIN_WAIT_MS;
  return Math.round(Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, untilChangeMs / 2)));
}

/** The states in which a simulated deposit may end; `reorged` fails like one whose block was replaced. */
export const SIMULATED_OUTCOMES = [
  'completed',
  'detected',
  'confirming',
  'failed',
  'settled',
  'reorged',
] as const;
export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number];
