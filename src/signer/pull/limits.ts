// How much may be signed away within an hour and a day.
import type { JournalIndex } from '../journal-index.ts';
import { type Moving, placeName } from '../moved.ts';
import { NotSigned, notSigned } from './refusal.ts';

type Most = (asset: Pick<Moving, 'network' | 'currency'>) => bigint | undefined;
/** The most that is signed away of an asset, in base units; undefined means no limit. */
export type SignLimits = {
  readonly perHour: Most;
  readonly perDay: Most;
  /** How much of that may be one merchant's; undefined means a third. */
  readonly perHourOfMerchant?: Most;
  readonly perDayOfMerchant?: Most;
};
type Within = {
  readonly limits: SignLimits;
  readonly index: Pick<JournalIndex, 'moved'>;
  readonly now: Date;
};

const HOUR_MS = 60 * 60_000;
const SHARE = 3n;

/**
 * Throws {@link NotSigned} where a transfer would bring what the journal has signed within an hour, or 24,
 * above its limit, or what it has signed for one merchant above the share of one. Attempts in one place count
 * once, with the largest of them.
 */
export function requireRoom({ limits, index, now }: Within, asked: Moving): void {
  const set = limitsOf(limits, asked);
  if (set.length === 0) return;
  const { amount, currency, merchant_id: merchant } = asked;
  const own = placeName(asked);
  const places = index.moved.of(asked, now);
  const found = set.map((limit) => {
    const since = now.getTime() - limit.hours * HOUR_MS;
    const counted = places.filter(
      ([, one]) => one.at > since && (!limit.isShare || one.merchant_id === merchant),
    );
    const before = counted.find(([place]) => place === own)?.[1].amount ?? 0n;
    const others = counted.reduce((sum, [place, one]) => (place === own ? sum : sum + one.amount), 0n);
    return { ...limit, others, sum: others + (before > amount ? before : amount) };
  });
  const above = found.filter(({ sum, most }) => sum > most);
  const never = above.filter(({ most }) => amount > most).toSorted((a, b) => (a.most < b.most ? -1 : 1))[0];
  if (never) {
    const { name, most, isShare } = never;
    const room = found.reduce(
      (least, one) => (one.most - one.others < least ? one.most - one.others : least),
      amount,
    );
    throw new NotSigned(
      'limit',
      `${amount} units of ${currency} are more than ${name} allows ${isShare ? 'one merchant ' : ''}at all (${most}): ${asked.purpose === 'gas' ? '' : 'deposits that fit are paid out in parts; for one that is larger alone '}raise ${name}`,
      room > 0n ? room : 0n,
    );
  }
  for (const { name, hours, most, isShare, sum } of above)
    throw notSigned.limit`with it ${sum} units of ${currency} would be signed away ${isShare ? 'for this merchant ' : ''}within ${hours} h, and ${name} allows ${isShare ? 'one merchant ' : ''}${most}: it is signed when there is room, or raise the limit`;
}

/** What is moved together; attempts in one place count once, with the largest of them. */
export function sumOf(moved: readonly Moving[]): bigint {
  const largest = new Map<string, bigint>();
  for (const one of moved) {
    const place = placeName(one);
    if (one.amount > (largest.get(place) ?? 0n)) largest.set(place, one.amount);
  }
  return [...largest.values()].reduce((sum, amount) => sum + amount, 0n);
}

function limitsOf({ perHour, perDay, ...shares }: SignLimits, asked: Moving) {
  const windows = [
    { name: 'SIGN_MAX_PER_HOUR', hours: 1, most: perHour(asked), share: shares.perHourOfMerchant?.(asked) },
    { name: 'SIGN_MAX_PER_DAY', hours: 24, most: perDay(asked), share: shares.perDayOfMerchant?.(asked) },
  ];
  return windows.flatMap(({ name, hours, most, share = most === undefined ? undefined : most / SHARE }) => [
    ...(most === undefined ? [] : [{ name, hours, most, isShare: false }]),
    ...(share === undefined ? [] : [{ name: `${name}_MERCHANT`, hours, most: share, isShare: true }]),
  ]);
}
