// What the next step of a payout is decided from.
import type { PayoutState, SentState } from '../settlement.ts';
import type { SentPurpose } from './purpose.ts';
import type { WaitCode } from './waits.ts';

/** A transaction that was asked for, as its row says. */
export type SentFacts = {
  readonly id: string;
  readonly purpose: SentPurpose;
  readonly attempt: number;
  readonly state: SentState;
  readonly ok: boolean | null;
  /** Why the signer did not sign it, or no endpoint takes it: a code, a colon and a sentence. */
  readonly refused: string | null;
  readonly askedAt: Date;
  readonly signedAt: Date | null;
  /** When its bytes were sent last. */
  readonly sentAt: Date | null;
  /** Whether blocks show that it moved just what was asked for; null where none has it. */
  readonly asAsked: boolean | null;
  /** Another transaction has its place in a block that was read twice: it can land no more. */
  readonly placeTaken: boolean;
  /**
   * Its time was over before a block that was read twice, as all before it were, and none of them has it: it
   * can land no more either.
   */
  readonly expired: boolean;
};

export type LivingFacts = {
  readonly state: PayoutState;
  readonly sent: readonly SentFacts[];
  /** Why nothing may be signed for it any more: the merchant's withdraw address is another one by now. */
  readonly obsolete: string | null;
  /** Why nothing new is to be signed: somebody has paused it. What is signed goes on. */
  readonly paused: string | null;
  /** The whole is above a limit, and the signer would sign a part now that is worth a payout. */
  readonly goesInPart?: boolean;
  /** When a person last asked for another look; null where nobody did. */
  readonly retriedAt: Date | null;
  readonly signer: {
    readonly seenAt: Date | null;
    /** Why it signs nothing at all. */
    readonly sealedReason: string | null;
  };
  readonly now: Date;
  readonly resendMs: number;
  /** How soon a block that is on its way to being final is looked for again. */
  readonly blockLookMs: number;
};

export type Wait = {
  readonly does: 'wait';
  readonly code: WaitCode;
  readonly reason: string;
  readonly delayMs: number;
  /** The transaction that no block has although it was sent: the actor of its wallet has to look. */
  readonly wakes?: string;
};

/** Whether blocks may still take it. */
export const canLand = ({ placeTaken, expired }: SentFacts): boolean => !placeTaken && !expired;
/** How long ago, in milliseconds; longer than anything where it never was. */
export const ageOf = (at: Date | null, now: Date): number =>
  at === null ? Number.POSITIVE_INFINITY : now.getTime() - at.getTime();

/** Whether it is to be sent, for the first time or again; at once where a wrong clock says that it was. */
export const isDue = (sentAt: Date | null, now: Date, resendMs: number): boolean =>
  Math.abs(ageOf(sentAt, now)) >= resendMs;

const FIRST_PAUSE_MS = 10 * 60_000;
const LONGEST_PAUSE_MS = 6 * 60 * 60_000;
/** Whatever is tried again later is looked at again within this time. */
export const LONGEST_LOOK_MS = 10 * 60_000;

/** The pause after what failed so often more than twice: each is twice the one before, up to some hours. */
export const backOffMs = (times: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** times);

/** A wait, for a step that has to say why. */
export function waits(code: WaitCode, reason: string, delayMs: number): Wait {
  return { does: 'wait', code, reason, delayMs };
}
