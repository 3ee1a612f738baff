// What was asked of the signer and is not signed.
import { ageOf, type LivingFacts, type SentFacts, type Wait } from './facts.ts';
import { REFUSALS, type RefusalCode } from './waits.ts';

/** How soon a row is looked at again that somebody else changes within moments. */
const SOON_MS = 250;
/** A signer says that it is there far more often than this. */
const SIGNER_SILENT_MS = 60_000;
/**
 * What is refused for good is asked for again after this: what made it wrong may be on its way out. Each time
 * it takes twice as long, up to some hours, so that what stays wrong makes few rows, and a person is told.
 */
const GIVE_UP_AFTER_MS = 10_000;
const MOST_DOUBLED = 10;
const WAIT_MS = 15_000;
const LONG_WAIT_MS = 60_000;

/** What keeps something from being signed that was asked for. */
export function signerSays(
  asked: SentFacts,
  { seenAt, sealedReason }: LivingFacts['signer'],
  now: Date,
): Omit<Wait, 'does'> {
  if (sealedReason !== null)
    return { code: 'sealed', reason: `the signer signs nothing: ${sealedReason}`, delayMs: WAIT_MS };
  const silentMs = ageOf(seenAt, now);
  if (silentMs >= SIGNER_SILENT_MS)
    return {
      code: 'signer_away',
      reason: `no signer has been seen ${seenAt === null ? 'yet' : `for ${Math.floor(silentMs / 1_000)} s`}: start one ("start --role signer") or look at its log`,
      delayMs: WAIT_MS,
    };
  if (asked.refused === null)
    return { code: 'on_its_way', reason: 'the signer is asked to sign it', delayMs: SOON_MS };
  const code = ruleOf(asked)?.code ?? 'refused';
  const delayMs = code === 'on_its_way' ? WAIT_MS : LONG_WAIT_MS;
  return { code, reason: `the signer does not sign it: ${sentenceOf(asked)}`, delayMs };
}

/** Whether what the signer has refused is asked for no more. Whoever wants another look waits no time. */
export function isGivenUp(
  asked: SentFacts,
  { sent, now, retriedAt }: Pick<LivingFacts, 'sent' | 'now' | 'retriedAt'>,
): boolean {
  if (!ruleOf(asked)?.forGood) return false;
  const isNew = ({ askedAt }: SentFacts): boolean => retriedAt === null || askedAt > retriedAt;
  if (!isNew(asked)) return true;
  const before = sent.filter(
    (one) => one.purpose === asked.purpose && one.state === 'dead' && isNew(one),
  ).length;
  return ageOf(asked.askedAt, now) >= GIVE_UP_AFTER_MS * 2 ** Math.min(before, MOST_DOUBLED);
}

/**
 * How much of a payout the signer would sign now, in base units, where the whole is more than a limit ever
 * allows; undefined where it said nothing like that.
 */
export function roomSaid({ refused, purpose }: SentFacts): bigint | undefined {
  const room = purpose === 'gas' ? undefined : /^limit (\d+):/.exec(refused ?? '')?.[1];
  return room === undefined ? undefined : BigInt(room);
}

/** What the signer said of it, without its code. */
export const sentenceOf = ({ refused }: SentFacts): string => refused?.slice(refused.indexOf(':') + 2) ?? '';

/** What its code means; undefined for one that this version does not know. */
function ruleOf({ refused }: SentFacts): (typeof REFUSALS)[RefusalCode] | undefined {
  const code = /^[^ :]*/.exec(refused ?? '')?.[0] ?? '';
  return Object.hasOwn(REFUSALS, code) ? REFUSALS[code as RefusalCode] : undefined;
}
