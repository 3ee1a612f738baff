// What a payout that is under way does next, from rows alone: no chain is asked, and nothing is believed that
// no block has shown.
import type { SentState } from '../settlement.ts';
import { isGivenUp, roomSaid, sentenceOf, signerSays } from './asked.ts';
import { ageOf, canLand, type LivingFacts, type SentFacts, type Wait, waits } from './facts.ts';
import { movesMoney } from './purpose.ts';

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

/**
 * What was sent a moment ago may be in one of the next blocks, whenever it was signed: whoever comes an hour
 * late sends it first. It is outbid after this part of the time for which it is let be; that is ten blocks
 * and more, and the rest is for finding out what a better one takes, before it is sent again.
 */
const LET_BE_PART = 3;
const LONG_WAIT_MS = 60_000;

/**
 * The next step of a payout that is planned or pays, or is over and has lost its block. Only transactions
 * that blocks show end it: it settles when one succeeded in a final block, and fails when none is left that
 * could. What was asked for is given up only after the signer has refused it, and cancelled only when nothing
 * is asked for or signed.
 */
export function decideLiving(facts: LivingFacts): LivingStep {
  const payouts = facts.sent.filter(({ purpose, state }) => purpose === 'payout' && state !== 'dead');
  const signed = payouts.filter(({ state }) => state !== 'asked');
  if (facts.state === 'paying') return decidePaying(facts, payouts, signed);
  if (facts.state !== 'planned') return decideOver(facts);
  if (signed.length > 0) return { does: 'pay' };
  return decidePlanned(facts, payouts);
}

/** The block that ended it was replaced: what is signed is sent until another one has it. */
function decideOver(facts: LivingFacts): LivingStep {
  const loose = facts.sent.filter(
    (one) =>
      movesMoney(one.purpose) &&
      isSent(one) &&
      canLand(one) &&
      // Its deposits went to another payout: whoever sent this too would pay them twice.
      !(facts.state === 'failed' && one.purpose === 'payout'),
  );
  const wait = waits(
    'on_its_way',
    `it is ${facts.state}, and the block that ended it was replaced: its bytes are sent again until another one has them, and nothing else is paid out of the address; see that the RPC endpoints answer ("doctor")`,
    facts.resendMs / LET_BE_PART,
  );
  return firstDue(newestOfEach(loose), facts) ?? wait;
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
  // What prepared it, whose final block was replaced after all: without that nothing can land.
  const before = facts.sent.filter((one) => prepares(one) && isSent(one) && canLand(one));
  const due = firstDue([...newestOfEach(before), newestOf(open)], facts);
  if (due) return due;
  if (asked) {
    if (isGivenUp(asked, facts)) return { does: 'give_up', id: asked.id, reason: sentenceOf(asked) };
    const { code, reason } = signerSays(asked, facts.signer, facts.now);
    return waits(
      code,
      `${reason}; the transaction before it is sent again until a block has it`,
      facts.blockLookMs,
    );
  }
  return outbids(facts, newestOf(open), 'its transaction was sent', 'it');
}

function decidePlanned(facts: LivingFacts, payouts: readonly SentFacts[]): LivingStep {
  const { obsolete, paused } = facts;
  const before = facts.sent.filter((one) => prepares(one) && !isOver(one.state));
  const open = before.filter((one) => one.state !== 'asked' && canLand(one));
  const isMined = open.some(({ state }) => state === 'mined');
  // A signed top-up has a place in the gas wallet's order: it is sent whatever becomes of the payout.
  const due = isMined ? undefined : firstDue(newestOfEach(open), facts);
  if (due) return due;
  for (const asked of [...payouts, ...before].filter(({ state }) => state === 'asked')) {
    const given = obsolete !== null && asked.refused !== null;
    const inPart = facts.goesInPart === true && roomSaid(asked) !== undefined;
    if (given || inPart || isGivenUp(asked, facts))
      return { does: 'give_up', id: asked.id, reason: obsolete ?? sentenceOf(asked) };
    return { does: 'wait', ...signerSays(asked, facts.signer, facts.now) };
  }
  if (open.length > 0) {
    const newest = newestOf(open);
    const what = newest.purpose === 'gas' ? 'the coins for its fee' : 'the bytes that lend it energy';
    if (!isMined) return outbids(facts, newest, `${what} were sent`, 'them');
    return waits('on_its_way', `${what} are in a block that is not final yet`, facts.blockLookMs);
  }
  if (obsolete !== null) return { does: 'cancel', reason: obsolete };
  if (paused !== null) return waits('paused', paused, LONG_WAIT_MS);
  return { does: 'prepare' };
}

/** What endpoints said to it, where none of them takes it. */
const whyNot = (newest: SentFacts): string =>
  newest.refused === null ? '' : `: no RPC endpoint takes it (${sentenceOf(newest)})`;

/**
 * A better price for what no block takes: what is signed may land at any time, so nobody gains by it, and
 * what stands behind it in the wallet's order waits for it. So neither a pause nor anything else of its
 * payout keeps it back.
 */
function outbids(
  { now, resendMs, outbidMs, blockLookMs }: LivingFacts,
  newest: SentFacts,
  what: string,
  them: 'it' | 'them',
): LivingStep {
  const { id, signedAt, sentAt } = newest;
  if (ageOf(signedAt, now) >= outbidMs && ageOf(sentAt, now) >= resendMs / LET_BE_PART)
    return { does: 'outbid', id };
  return waits('on_its_way', `${what}, and no block has ${them} yet${whyNot(newest)}`, blockLookMs);
}

/** The first of these that is to be sent now. */
function firstDue(bytes: readonly SentFacts[], { now, resendMs }: LivingFacts): ReturnType<typeof dueToSend> {
  return bytes.map((one) => dueToSend(one, now, resendMs)).find((due) => due !== undefined);
}

/** That it is to be sent, for the first time or again; at once where a wrong clock says that it was. */
export function dueToSend(
  { id, sentAt }: Pick<SentFacts, 'id' | 'sentAt'>,
  now: Date,
  resendMs: number,
): (LivingStep & { readonly does: 'send' }) | undefined {
  return Math.abs(ageOf(sentAt, now)) >= resendMs ? { does: 'send', id } : undefined;
}

/** What took the last hope from attempts of which none is in a block. */
function endedWithout(signed: readonly SentFacts[]): string {
  return signed.some(({ placeTaken }) => placeTaken)
    ? 'another transaction of the address took the place of its transaction'
    : 'its time was over before a block had it';
}

const prepares = ({ purpose }: SentFacts): boolean => purpose === 'gas' || purpose === 'delegate';
const isOver = (state: SentState): boolean => state === 'final' || state === 'dead';
const isSent = ({ state }: SentFacts): boolean => state === 'signed' || state === 'sent';
/** Of the coins for a payout and of what lends it energy: each may have lost its block. */
const newestOfEach = (attempts: readonly SentFacts[]): readonly SentFacts[] =>
  [...Map.groupBy(attempts, ({ purpose }) => purpose).values()].map(newestOf);
const newestOf = (attempts: readonly SentFacts[]): SentFacts =>
  attempts.reduce((last, one) => (one.attempt > last.attempt ? one : last));
