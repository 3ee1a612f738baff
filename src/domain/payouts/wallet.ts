// What a wallet of ours does next about what it has signed and no block holds, from rows alone.
import { ageOf, isDue } from './facts.ts';

/** A signed transaction in no block, as its row says: of those with one nonce the newest attempt. */
export type Unmined = {
  readonly id: string;
  readonly signedAt: Date;
  /** When its bytes were sent last; null where they never were. */
  readonly sentAt: Date | null;
  /** Its payout is under way, and no replacement of it is asked for: a better price may be. */
  readonly mayBeReplaced: boolean;
};

export type WalletStep =
  /** Nothing that it signed may land any more, or all of it has. */
  | { readonly does: 'rest' }
  /** These, the lowest nonces first. */
  | { readonly does: 'send'; readonly ids: readonly string[] }
  /** Ask for another attempt with the same nonce for a higher price. */
  | { readonly does: 'replace'; readonly id: string }
  | { readonly does: 'wait'; readonly delayMs: number };

/** How many are sent in one step. */
const MOST_AT_ONCE = 20;
/**
 * What was sent a moment ago may be in one of the next blocks, whenever it was signed: whoever comes an hour
 * late sends it first. It is replaced after this part of the time for which it is let be; that is ten blocks
 * and more, and the rest is for finding out what a better one takes, before it is sent again.
 */
export const LET_BE_PART = 3;

/**
 * The next step of a wallet with these transactions, the lowest nonce first: all others wait for that one. A
 * better price for what no block takes is asked for whatever became of its payout's pause or destination:
 * what is signed may land at any time, so nobody gains by waiting, and what stands behind it waits for it.
 */
export function decideWallet(
  unmined: readonly Unmined[],
  { now, resendMs, outbidMs }: { readonly now: Date; readonly resendMs: number; readonly outbidMs: number },
): WalletStep {
  if (unmined.length === 0) return { does: 'rest' };
  const isToSend = ({ sentAt }: Unmined): boolean => isDue(sentAt, now, resendMs);
  const isOld = ({ signedAt, sentAt, mayBeReplaced }: Unmined): boolean =>
    mayBeReplaced && ageOf(signedAt, now) >= outbidMs && ageOf(sentAt, now) >= resendMs / LET_BE_PART;
  // The lowest decides: the others, which an endpoint may take long for, would be due again before its turn.
  const next = unmined.find((one) => isToSend(one) || isOld(one));
  if (next && !isToSend(next)) return { does: 'replace', id: next.id };
  const ids = unmined.filter(isToSend).map(({ id }) => id);
  if (ids.length > 0) return { does: 'send', ids: ids.slice(0, MOST_AT_ONCE) };
  return { does: 'wait', delayMs: resendMs / LET_BE_PART };
}
