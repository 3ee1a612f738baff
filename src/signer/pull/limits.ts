import type { JournalIndex } from '../journal-index.ts';
import type { SignedLine } from '../journal-lines.ts';
import { placeName } from '../moved.ts';
import type { Asked } from './facts.ts';
import { NotSigned } from './refusal.ts';

type Most = (asset: Pick<Asked, 'network' | 'currency'>) => bigint | undefined;
/** The most that is signed away of an asset, in base units; undefined means no limit. */
export type SignLimits = {
  readonly perHour: Most;
  readonly perDay: Most;
  /** How much of that may be one merchant's; undefined means a third. */
  readonly perHourOfMerchant?: Most;
  readonly perDayOfMerchant?: Most;
};

const HOUR_MS = 60 * 60_000;
const SHARE = 3n;

/** What has to have room below a limit. */
export type Moved = Pick<
  Asked,
  'network' | 'currency' | 'payoutId' | 'purpose' | 'attempt' | 'amountUnits'
> & {
  readonly merchantId: string;
};

type Limit = {
  readonly name: string;
  readonly hours: number;
  readonly most: bigint;
  readonly isShare: boolean;
};

/**
 * Throws {@link NotSigned} where a transfer would bring what the journal has signed within an hour, or 24,
 * above its limit, or what it has signed for one merchant above the share of one. Attempts in one place count
 * once, with the largest of them.
 */
export function requireRoom(
  limits: SignLimits,
  { moved }: Pick<JournalIndex, 'moved'>,
  asked: Moved,
  nonce: number | null,
  now: Date,
): void {
  const set = limitsOf(limits, asked);
  if (set.length === 0) return;
  const { payoutId: payout_id, purpose, attempt, amountUnits: amount, merchantId } = asked;
  const own = placeName({ payout_id, purpose, attempt, nonce });
  const places = [...moved.of(asked, now)];
  const found = set.map((limit) => {
    const since = now.getTime() - limit.hours * HOUR_MS;
    const counted = places.filter(
      ([, one]) => one.at > since && (!limit.isShare || one.merchantId === merchantId),
    );
    const before = counted.find(([place]) => place === own)?.[1].amount ?? 0n;
    const others = counted.reduce((sum, [place, one]) => (place === own ? sum : sum + one.amount), 0n);
    return { ...limit, others, sum: others + (before > amount ? before : amount) };
  });
  const above = found.filter(({ sum, most }) => sum > most);
  const never = above.filter(({ most }) => amount > most).toSorted((a, b) => (a.most < b.most ? -1 : 1))[0];
  if (never) {
    const room = found.reduce(
      (least, { most, others }) => (most - others < least ? most - others : least),
      amount,
    );
    throw new NotSigned('limit', tooLarge(asked, never), room > 0n ? room : 0n);
  }
  if (above[0]) throw new NotSigned('limit', full(asked, above[0]));
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

function limitsOf({ perHour, perDay, ...shares }: SignLimits, asked: Moved): readonly Limit[] {
  const windows = [
    { name: 'SIGN_MAX_PER_HOUR', hours: 1, most: perHour(asked), share: shares.perHourOfMerchant?.(asked) },
    { name: 'SIGN_MAX_PER_DAY', hours: 24, most: perDay(asked), share: shares.perDayOfMerchant?.(asked) },
  ];
  return windows.flatMap(({ name, hours, most, share = most === undefined ? undefined : most / SHARE }) => [
    ...(most === undefined ? [] : [{ name, hours, most, isShare: false }]),
    ...(share === undefined ? [] : [{ name: `${name}_MERCHANT`, hours, most: share, isShare: true }]),
  ]);
}

const tooLarge = ({ amountUnits, currency, purpose }: Moved, { name, most, isShare }: Limit): string =>
  `${amountUnits} units of ${currency} are more than ${name} allows ${isShare ? 'one merchant ' : ''}at all (${most}): ${purpose === 'gas' ? '' : 'deposits that fit are paid out in parts; for one that is larger alone '}raise ${name}`;

const full = ({ currency }: Moved, { name, hours, most, isShare, sum }: Limit & { sum: bigint }): string =>
  `with it ${sum} units of ${currency} would be signed away ${isShare ? 'for this merchant ' : ''}within ${hours} h, and ${name} allows ${isShare ? 'one merchant ' : ''}${most}: it is signed when there is room, or raise the limit`;
