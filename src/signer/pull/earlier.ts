// What was signed before, and what it leaves to be signed.
import type { TransferTerms } from '../../chains/transfer.ts';
import type { SignedLine } from '../journal-lines.ts';
import type { Asked, Outcome, SignCase } from './facts.ts';
import { forgotten, givenUp, notSigned } from './refusal.ts';

/** Another attempt in the same place has to pay this much more, in percent, or nodes refuse it. */
const BUMP_PERCENT = 10n;
/** The clocks of two machines differ. */
const AFTER_EXPIRY_MS = 60_000;

/** Whether a line moves what is asked for, from and to where it is asked for. */
export const isSameWay = (line: SignedLine, { network, fromKey, toKey, currency }: Asked): boolean =>
  line.network === network && line.from === fromKey && line.to === toKey && line.currency === currency;

/** Whether a transaction is known to have landed nowhere, and never will. */
export function isLost(line: SignedLine, outcome: Outcome | undefined, now: Date): boolean {
  if (outcome?.state !== 'dead') return false;
  return line.nonce === null ? endOf(line, now) <= now : outcome.replaced;
}

/** When it can land no more by this clock, where transactions have no place. */
const endOf = ({ expires_at: at }: SignedLine, now: Date): Date =>
  at === null ? now : new Date(new Date(at).getTime() + AFTER_EXPIRY_MS);

/**
 * Throws unless a transaction has failed for good: final blocks show that it failed, that another one took
 * its place, or, where transactions have no place, that its time is over without it. With `mayBeDone` it may
 * have landed as well, as coins for gas are given again.
 */
function requireFailed({ asked, outcomes, now }: SignCase, line: SignedLine, mayBeDone = false): void {
  const outcome = outcomes.get(line.hash);
  if (!outcome || outcome.state === 'foreign') throw forgotten(line, asked);
  const name = `${line.hash} of payout ${line.payout_id}`;
  if (outcome.state === 'final') {
    if (outcome.ok === false || mayBeDone) return;
    if (line.purpose !== 'payout') throw givenUp(`${name} has done it, as final blocks show`);
    throw notSigned.backup`${name} has paid it, as final blocks show: nothing is paid twice. Compare it with an explorer; "payout conclude ${line.payout_id} --tx ${line.hash}" books it`;
  }
  if (outcome.state !== 'dead')
    throw notSigned.earlier`${name} is ${outcome.state}: wait until final blocks say that it failed`;
  if (line.nonce !== null && !outcome.replaced)
    throw notSigned.earlier`${line.hash} is called dead, and no block shows another transaction in its place: it can land still, so wait`;
  const over = endOf(line, now);
  if (over > now) throw notSigned.earlier`${line.hash} can land until ${over.toISOString()}: wait until then`;
}

/** Throws where another payout has paid one of the deposits, unless the database knows that it failed. */
export function requireUnpaid(facts: SignCase): void {
  for (const { id } of facts.deposits)
    for (const line of facts.index.ofDeposit(id))
      if (line.payout_id !== facts.asked.payoutId) requireFailed(facts, line);
}

/**
 * The nonce of a transfer: that of the attempt which it replaces, or the next one of the sender. Null on a
 * chain without. Throws `NotSigned` while an earlier attempt may still land that it does not replace, and
 * where it pays too little to replace one.
 */
export function placeOfTransfer(facts: SignCase, terms: TransferTerms): number | null {
  const { asked, index, transfers } = facts;
  const before = index.ofPayout(asked.purpose, asked.payoutId);
  const strange = before.find((line) => !isSameWay(line, asked));
  if (strange)
    throw notSigned.backup`${strange.hash} was signed for this payout, from or to another wallet: find out who wrote the payout`;
  const skipped = before.find(({ attempt }) => attempt >= asked.attempt);
  if (skipped) throw forgotten(skipped, asked);
  if (!transfers.hasNonce) {
    // Only their end says that another one may be signed.
    for (const line of before) requireFailed(facts, line, asked.purpose === 'gas');
    return null;
  }
  const open = replaced(facts);
  if (!open) return nextNonce(facts, terms);
  const highest = before
    .filter(({ nonce }) => nonce === open.nonce)
    .reduce((most, { price }) => (price !== null && price > most ? price : most), 0n);
  const least = (highest * (100n + BUMP_PERCENT) + 99n) / 100n;
  if (terms.price === null || terms.price < least)
    throw notSigned.terms`it replaces ${open.hash} and has to pay at least ${least} for gas: ask for it with a higher price`;
  return open.nonce;
}

/**
 * The attempt whose place is taken again. All attempts of a payout share one, so that one of them lands at
 * most; a top-up replaces the one before only while that may still land.
 */
export function replaced({ index, asked, outcomes }: SignCase): SignedLine | undefined {
  const before = index.ofPayout(asked.purpose, asked.payoutId);
  if (asked.purpose === 'payout') return before[0];
  const last = before.at(-1);
  const state = last && outcomes.get(last.hash)?.state;
  return state === 'final' || state === 'dead' ? undefined : last;
}

/**
 * The place after those that the journal knows, and after what the wallet's key has signed elsewhere, as far
 * as that fills one place after the other: what a row or an answer names without that signature moves it by
 * none, because a place once taken is never given back. Throws where what is signed there could not land, so
 * that it is asked for again with what the chain counts by then.
 */
function nextNonce({ index, transfers, asked, proofs }: SignCase, { chainNonce }: TransferTerms): number {
  const { network, fromKey } = asked;
  const last = index.lastNonce(network, fromKey);
  // The gas wallet may have served before this gateway had it, in blocks that nobody has read.
  let next = last === undefined ? (asked.purpose === 'payout' ? 0 : chainNonce) : last + 1;
  if (next === null)
    throw notSigned.terms`it is the first of its wallet, and RPC endpoints do not agree on how many that has sent: it is asked for again, so see that they are right`;
  const taken = new Set(proofs.flatMap((proof) => transfers.places?.(proof, fromKey) ?? []));
  while (taken.has(next) && next < (chainNonce ?? Number.POSITIVE_INFINITY)) next += 1;
  if (chainNonce === null) return next;
  if (chainNonce > next)
    throw notSigned.terms`the chain shows ${chainNonce} transactions of the wallet, and this gateway knows of ${next}: look it up in an explorer, and have the blocks of the others read with "rescan", or take the RPC endpoint out that says so`;
  if (chainNonce < next && !index.holds(network, fromKey, chainNonce))
    throw notSigned.terms`the chain shows ${chainNonce} transactions of the wallet, and this signer has signed none with number ${chainNonce}, so none after it can land: look it up in an explorer, and send those between from the wallet's own phrase, or take the RPC endpoint out that says so`;
  return next;
}
