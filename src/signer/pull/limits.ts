import type { JournalIndex } from '../journal-index.ts';
import type { SignedLine } from '../journal-lines.ts';
import { placeName } from '../moved.ts';
import type { Asked } from './facts.ts';
import { NotSigned } from './refusal.ts';

/** The most that is signed away of an asset, in base units; undefined means no limit. */
export type SignLimits = {
  perHour(asset: Pick<Asked, 'network' | 'currency'>): bigint | undefined;
  perDay(asset: Pick<Asked, 'network' | 'currency'>): bigint | undefined;
};

const HOUR_MS = 60 * 60_000;

/** What has to have room below a limit. */
export type Moved = Pick<Asked, 'network' | 'currency' | 'payoutId' | 'purpose' | 'attempt' | 'amountUnits'>;

/**
 * Throws {@link NotSigned} where a transfer would bring what the journal has signed within an hour, or 24,
 * above its limit. Attempts in one place count once, with the largest of them.
 */
export function requireRoom(
  limits: SignLimits,
  { moved }: Pick<JournalIndex, 'moved'>,
  asked: Moved,
  nonce: number | null,
  now: Date,
): void {
  const windows = [
    { name: 'SIGN_MAX_PER_HOUR', ms: HOUR_MS, most: limits.perHour(asked) },
    { name: 'SIGN_MAX_PER_DAY', ms: 24 * HOUR_MS, most: limits.perDay(asked) },
  ];
  const { payoutId: payout_id, purpose, attempt, amountUnits: amount } = asked;
  const own = placeName({ payout_id, purpose, attempt, nonce });
  for (const { name, ms, most } of windows) {
    if (most === undefined) continue;
    const since = now.getTime() - ms;
    let sum = amount;
    for (const [place, one] of moved.of(asked, now)) {
      if (one.at <= since) continue;
      if (place !== own) sum += one.amount;
      else if (one.amount > amount) sum += one.amount - amount;
    }
    if (sum > most)
      throw new NotSigned(
        'limit',
        amount > most
          ? `${amount} units of ${asked.currency} are more than ${name} allows at all (${most}): raise it if that is right`
          : `with it ${sum} units of ${asked.currency} would be signed away within ${ms / HOUR_MS} h, and ${name} allows ${most}: it is signed when there is room, or raise the limit`,
      );
  }
}

type Counted = Pick<SignedLine, 'payout_id' | 'purpose' | 'attempt' | 'nonce' | 'amount'>;

/** What lines move together; attempts in one place count once, with the largest of them. */
export function sumOf(lines: readonly Counted[]): bigint {
  const largest = new Map<string, bigint>();
  for (const line of lines) {
    const place = placeName(line);
    if (line.amount > (largest.get(place) ?? 0n)) largest.set(place, line.amount);
  }
  return [...largest.values()].reduce((sum, amount) => sum + amount, 0n);
}
