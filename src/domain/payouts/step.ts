// What a payout that is under way does next, from rows alone: no chain is asked, and nothing is believed that
// no block has shown.
import type { SentState } from '../settlement.ts';
import { isGivenUp, roomSaid, sentenceOf, signerSays } from './asked.ts';
import { canLand, isDue, type LivingFacts, type SentFacts, type Wait, waits } from './facts.ts';
import { movesMoney } from './purpose.ts';
import { BY_ENDPOINTS } from './taken.ts';
import { LET_BE_PART } from './wallet.ts';

export type LivingStep =
  | Wait
  /** Final blocks show that it was paid. */
  | { readonly does: 'settle' }
  /** Final blocks show that none of its transactions can pay any more. */
  | { readonly does: 'fail'; readonly reason: string }
  /** It was signed: it pays from now on, whatever happens. */
  | { readonly does: 'pay' }
  /** For the first time; what is in no block after that its wallet sends again (./wallet.ts). */
  | { readonly does: 'send'; readonly id: string }
  /** Nothing is signed that could pay it: find out what it takes, and ask for that. */
  | { readonly does: 'prepare' }
  /** What was asked for will not be signed as it is. */
  | { readonly does: 'give_up'; readonly id: string; readonly reason: string }
  | { readonly does: 'cancel'; readonly reason: string };

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

/** The block that ended it was replaced: its wallet sends what is signed until another one has it. */
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
  return wakingFor(newestOfEach(loose), facts, wait);
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

/** The newest attempt is sent; its wallet does so until a block holds one of them. */
function keepSending(
  facts: LivingFacts,
  open: readonly SentFacts[],
  asked: SentFacts | undefined,
): LivingStep {
  // What prepared it, whose final block was replaced after all: without that nothing can land.
  const before = facts.sent.filter((one) => prepares(one) && isSent(one) && canLand(one));
  const bytes = [...newestOfEach(before), newestOf(open)];
  const first = neverSent(bytes);
  if (first) return first;
  if (asked) {
    if (isGivenUp(asked, facts)) return { does: 'give_up', id: asked.id, reason: sentenceOf(asked) };
    const { code, reason } = signerSays(asked, facts.signer, facts.now);
    const sentOn = `${reason}; the transaction before it is sent again until a block has it`;
    return wakingFor(bytes, facts, waits(code, sentOn, facts.blockLookMs));
  }
  return untilMined(
    bytes,
    facts,
    `its transaction was sent, and no block has it yet${whyNot(newestOf(open))}`,
  );
}

function decidePlanned(facts: LivingFacts, payouts: readonly SentFacts[]): LivingStep {
  const { obsolete, paused } = facts;
  const before = facts.sent.filter((one) => prepares(one) && !isOver(one.state));
  const open = before.filter((one) => one.state !== 'asked' && canLand(one));
  const isMined = open.some(({ state }) => state === 'mined');
  // A signed top-up has a nonce of the gas wallet: it is sent whatever becomes of the payout.
  const bytes = isMined ? [] : newestOfEach(open);
  const first = neverSent(bytes);
  if (first) return first;
  for (const asked of [...payouts, ...before].filter(({ state }) => state === 'asked')) {
    const given = obsolete !== null && asked.refused !== null;
    const inPart = facts.goesInPart === true && roomSaid(asked) !== undefined;
    if (given || inPart || isGivenUp(asked, facts))
      return { does: 'give_up', id: asked.id, reason: obsolete ?? sentenceOf(asked) };
    return wakingFor(bytes, facts, { does: 'wait', ...signerSays(asked, facts.signer, facts.now) });
  }
  if (open.length > 0) {
    const newest = newestOf(open);
    const what = newest.purpose === 'gas' ? 'the coins for its fee' : 'the bytes that lend it energy';
    if (!isMined)
      return untilMined(bytes, facts, `${what} were sent, and no block has them yet${whyNot(newest)}`);
    return waits('on_its_way', `${what} are in a block that is not final yet`, facts.blockLookMs);
  }
  if (obsolete !== null) return { does: 'cancel', reason: obsolete };
  if (paused !== null) return waits('paused', paused, LONG_WAIT_MS);
  return { does: 'prepare' };
}

/** Why no block has it, as far as anybody said: no endpoint takes it, or its price cannot be raised. */
const whyNot = (newest: SentFacts): string => {
  if (newest.refused === null) return '';
  return newest.refused.startsWith(BY_ENDPOINTS)
    ? `: no RPC endpoint takes it (${sentenceOf(newest)})`
    : `, and it cannot be replaced: ${sentenceOf(newest)}`;
};

/** A wait until a block has these, whose wallet is woken where it has to send one again, or replace it. */
const untilMined = (bytes: readonly SentFacts[], facts: LivingFacts, reason: string): Wait =>
  wakingFor(bytes, facts, waits('on_its_way', reason, facts.blockLookMs));

function wakingFor(bytes: readonly SentFacts[], { now, resendMs }: LivingFacts, wait: Wait): Wait {
  const late = bytes.find(({ sentAt }) => isDue(sentAt, now, resendMs));
  return late ? { ...wait, wakes: late.id, delayMs: Math.max(wait.delayMs, resendMs / LET_BE_PART) } : wait;
}

function neverSent(bytes: readonly SentFacts[]): LivingStep | undefined {
  const first = bytes.find(({ sentAt }) => sentAt === null);
  return first && { does: 'send', id: first.id };
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
