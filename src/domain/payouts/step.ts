// What a payout that is under way does next, from rows alone: no chain is asked, and nothing is believed that
// no block has shown.
import type { SentState } from '../settlement.ts';

/** Why a payout waits, as rows, metrics and operators name it. */
export const WAIT_CODES = [
  'on_its_way',
  'no_destination',
  'paused',
  'below_minimum',
  'chain_behind',
  'no_price',
  'fee_too_high',
  'gas_price',
  'refuses',
  'waiting_for_gas',
  'signer_away',
  'sealed',
  'limit',
  'new_destination',
  'refused',
  'address_short',
  'foreign_use',
  'contradiction',
  'failed_again',
  'requests',
] as const;
export type WaitCode = (typeof WAIT_CODES)[number];

/** A transaction that was asked for, as its row says. */
export type SentFacts = {
  readonly id: string;
  readonly purpose: 'payout' | 'gas';
  readonly attempt: number;
  readonly state: SentState;
  readonly ok: boolean | null;
  /** Why the signer did not sign it: a code, a colon and a sentence. */
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
  readonly state: 'planned' | 'paying';
  readonly sent: readonly SentFacts[];
  /** Why nothing may be signed for it any more: the merchant's withdraw address is another one by now. */
  readonly obsolete: string | null;
  /** Why nothing new is to be signed: somebody has paused it. What is signed goes on. */
  readonly paused: string | null;
  /** When a person last asked for another look; null where nobody did. */
  readonly retriedAt: Date | null;
  readonly signer: {
    readonly seenAt: Date | null;
    /** Why it signs nothing at all. */
    readonly sealedReason: string | null;
  };
  readonly now: Date;
  readonly resendMs: number;
  readonly outbidMs: number;
  /** How soon a block that is on its way to being final is looked for again. */
  readonly blockLookMs: number;
};

export type Wait = {
  readonly does: 'wait';
  readonly code: WaitCode;
  readonly reason: string;
  readonly delayMs: number;
};

export type LivingStep =
  | Wait
  /** Final blocks show that it was paid. */
  | { readonly does: 'settle' }
  /** Final blocks show that none of its transactions can pay any more. */
  | { readonly does: 'fail'; readonly reason: string }
  /** It was signed: it pays from now on, whatever happens. */
  | { readonly does: 'pay' }
  | { readonly does: 'send'; readonly id: string }
  /** Another attempt in the same place, for a higher price. */
  | { readonly does: 'outbid'; readonly id: string }
  /** Nothing is signed that could pay it: find out what it takes, and ask for that. */
  | { readonly does: 'prepare' }
  /** What was asked for will not be signed as it is. */
  | { readonly does: 'give_up'; readonly id: string; readonly reason: string }
  | { readonly does: 'cancel'; readonly reason: string };

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

/** What the signer will sign by itself later, and how that is named. */
const GOES_BY_ITSELF: Readonly<Record<string, WaitCode>> = {
  new_destination: 'new_destination',
  limit: 'limit',
  earlier: 'on_its_way',
  paused: 'paused',
};
/** What will never be signed as it was asked for. */
const WRONG: readonly string[] = ['terms', 'payout', 'destination'];

/**
 * The next step of a payout that is planned or pays. Only transactions that blocks show end it: it settles
 * when one succeeded in a final block, and fails when none is left that could. What was asked for is given up
 * only after the signer has refused it, and cancelled only when nothing is asked for or signed.
 */
export function decideLiving(facts: LivingFacts): LivingStep {
  const payouts = facts.sent.filter(({ purpose, state }) => purpose === 'payout' && state !== 'dead');
  const signed = payouts.filter(({ state }) => state !== 'asked');
  if (facts.state === 'paying') return decidePaying(facts, payouts, signed);
  if (signed.length > 0) return { does: 'pay' };
  return decidePlanned(facts, payouts);
}

function decidePaying(
  facts: LivingFacts,
  payouts: readonly SentFacts[],
  signed: readonly SentFacts[],
): LivingStep {
  const paid = signed.find(({ state, ok }) => state === 'final' && ok === true);
  if (paid && paid.asAsked !== true)
    return waits(
      'contradiction',
      'its transaction succeeded, and blocks show another amount or receiver than was signed: compare it with an explorer, and see that the RPC endpoints are right',
      LONG_WAIT_MS,
    );
  if (paid) return { does: 'settle' };
  const failed = signed.find(({ state, ok }) => state === 'final' && ok !== true);
  const open = signed.filter((one) => one.state !== 'final' && canLand(one));
  const asked = payouts.find(({ state }) => state === 'asked');
  if (open.length === 0)
    return failing(facts, failed ? 'its transaction failed on the chain' : endedWithout(signed), asked);
  if (open.some(({ state }) => state === 'mined'))
    return waits('on_its_way', 'its transaction is in a block that is not final yet', facts.blockLookMs);
  return keepSending(facts, open, asked);
}

/** Nothing is left that could pay, but for an attempt that the signer may be signing: that ends first. */
function failing({ now, signer }: LivingFacts, reason: string, asked: SentFacts | undefined): LivingStep {
  if (!asked) return { does: 'fail', reason };
  if (asked.refused !== null) return { does: 'give_up', id: asked.id, reason: sentenceOf(asked) };
  const said = signerSays(asked, signer, now);
  return waits(said.code, `${reason}, and another attempt is asked for: ${said.reason}`, said.delayMs);
}

/** The newest attempt is sent until a block holds one of them, and outbid when none does for long. */
function keepSending(
  facts: LivingFacts,
  open: readonly SentFacts[],
  asked: SentFacts | undefined,
): LivingStep {
  const { now, resendMs, outbidMs, blockLookMs, signer, sent } = facts;
  const newest = newestOf(open);
  // A top-up whose final block was replaced after all: without its coins nothing can land.
  const coins = sent.filter((one) => one.purpose === 'gas' && isSent(one) && canLand(one));
  for (const one of coins.length > 0 ? [newestOf(coins), newest] : [newest]) {
    const due = dueToSend(one, now, resendMs);
    if (due) return due;
  }
  if (asked) {
    if (isGivenUp(asked, facts)) return { does: 'give_up', id: asked.id, reason: sentenceOf(asked) };
    const { code, reason } = signerSays(asked, signer, now);
    return waits(
      code,
      `${reason}; the transaction before it is sent again until a block has it`,
      blockLookMs,
    );
  }
  if (ageOf(newest.signedAt, now) >= outbidMs) return outbids(facts, newest, 'its transaction was sent');
  return waits('on_its_way', 'its transaction was sent, and no block has it yet', blockLookMs);
}

function decidePlanned(facts: LivingFacts, payouts: readonly SentFacts[]): LivingStep {
  const { obsolete, paused } = facts;
  const gas = facts.sent.filter(({ purpose, state }) => purpose === 'gas' && !isOver(state));
  for (const asked of [...payouts, ...gas].filter(({ state }) => state === 'asked')) {
    const given = obsolete !== null && asked.refused !== null;
    if (given || isGivenUp(asked, facts))
      return { does: 'give_up', id: asked.id, reason: obsolete ?? sentenceOf(asked) };
    return { does: 'wait', ...signerSays(asked, facts.signer, facts.now) };
  }
  const open = gas.filter(canLand);
  if (open.length > 0) return decideTopUp(facts, open);
  if (obsolete !== null) return { does: 'cancel', reason: obsolete };
  if (paused !== null) return waits('paused', paused, LONG_WAIT_MS);
  return { does: 'prepare' };
}

/** A signed top-up has a place in the gas wallet's order: it is sent whatever becomes of the payout. */
function decideTopUp(facts: LivingFacts, gas: readonly SentFacts[]): LivingStep {
  const { now, resendMs, outbidMs, blockLookMs } = facts;
  if (gas.some(({ state }) => state === 'mined'))
    return waits('on_its_way', 'the coins for its fee are in a block that is not final yet', blockLookMs);
  const newest = newestOf(gas);
  const due = dueToSend(newest, now, resendMs);
  if (due) return due;
  if (ageOf(newest.signedAt, now) >= outbidMs)
    return outbids(facts, newest, 'the coins for its fee were sent');
  return waits('on_its_way', 'the coins for its fee were sent, and no block has them yet', blockLookMs);
}

/** A higher price is another signature: while payouts are paused only what is signed is sent on. */
function outbids({ paused, blockLookMs }: LivingFacts, newest: SentFacts, what: string): LivingStep {
  if (paused === null) return { does: 'outbid', id: newest.id };
  return waits('paused', `${what}, and no block has it yet; for a higher price: ${paused}`, blockLookMs);
}

function dueToSend({ id, sentAt }: SentFacts, now: Date, resendMs: number): LivingStep | undefined {
  return sentAt === null || ageOf(sentAt, now) >= resendMs ? { does: 'send', id } : undefined;
}

/** What keeps something from being signed that was asked for. */
function signerSays(
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
  const code = GOES_BY_ITSELF[codeOf(asked)] ?? 'refused';
  const delayMs = code === 'on_its_way' ? WAIT_MS : LONG_WAIT_MS;
  return { code, reason: `the signer does not sign it: ${sentenceOf(asked)}`, delayMs };
}

/** Whether what the signer has refused is asked for no more. Whoever wants another look waits no time. */
function isGivenUp(asked: SentFacts, { sent, now, retriedAt }: LivingFacts): boolean {
  if (!isWrong(asked)) return false;
  const isNew = ({ askedAt }: SentFacts): boolean => retriedAt === null || askedAt > retriedAt;
  if (!isNew(asked)) return true;
  const before = sent.filter(
    (one) => one.purpose === asked.purpose && one.state === 'dead' && isNew(one),
  ).length;
  return ageOf(asked.askedAt, now) >= GIVE_UP_AFTER_MS * 2 ** Math.min(before, MOST_DOUBLED);
}

/** What took the last hope from attempts of which none is in a block. */
function endedWithout(signed: readonly SentFacts[]): string {
  return signed.some(({ placeTaken }) => placeTaken)
    ? 'another transaction of the address took the place of its transaction'
    : 'its time was over before a block had it';
}

const canLand = ({ placeTaken, expired }: SentFacts): boolean => !placeTaken && !expired;
const isOver = (state: SentState): boolean => state === 'final' || state === 'dead';
const codeOf = ({ refused }: SentFacts): string => refused?.slice(0, refused.indexOf(':')) ?? '';
const sentenceOf = ({ refused }: SentFacts): string => refused?.slice(refused.indexOf(':') + 2) ?? '';
const isSent = ({ state }: SentFacts): boolean => state === 'signed' || state === 'sent';
const newestOf = (attempts: readonly SentFacts[]): SentFacts =>
  attempts.reduce((last, one) => (one.attempt > last.attempt ? one : last));
const isWrong = (asked: SentFacts): boolean => WRONG.includes(codeOf(asked));
const ageOf = (at: Date | null, now: Date): number =>
  at === null ? Number.POSITIVE_INFINITY : now.getTime() - at.getTime();

/** A wait, for a step that has to say why. */
export function waits(code: WaitCode, reason: string, delayMs: number): Wait {
  return { does: 'wait', code, reason, delayMs };
}
