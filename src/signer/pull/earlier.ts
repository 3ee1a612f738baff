// What was signed before, and what it leaves to be signed.
import type { Transfer, TransferTerms } from '../../chains/transfer.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { SignedLine } from '../journal-lines.ts';
import { type Bench, type Order, termsOf } from './bench.ts';
import type { Asked, Facts, Outcome } from './facts.ts';
import { forgotten, givenUp, NotSigned } from './refusal.ts';

/** Another attempt in the same place has to pay this much more, in percent, or nodes refuse it. */
const BUMP_PERCENT = 10n;
/** The clocks of two machines differ. */
const AFTER_EXPIRY_MS = 60_000;

/** The hashes on whose outcome a signature depends. */
export function hashesBefore(
  index: JournalIndex,
  { purpose, payoutId, network, toKey }: Pick<Asked, 'purpose' | 'payoutId' | 'network' | 'toKey'>,
  depositIds: readonly string[],
): readonly string[] {
  const ofDeposits = depositIds.flatMap((id) => index.ofDeposit(id));
  const given = purpose === 'gas' ? index.topUps(network, toKey) : [];
  const lines = [...index.ofPayout(purpose, payoutId), ...ofDeposits, ...given];
  return [...new Set(lines.map(({ hash }) => hash))];
}

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
 * its place, or, where transactions have no place, that its time is over without it.
 */
function requireFailed(line: SignedLine, outcome: Outcome, now: Date): void {
  if (outcome.state === 'final' && outcome.ok === false) return;
  if (outcome.state === 'final' && line.purpose !== 'payout')
    throw givenUp(`${line.hash} of payout ${line.payout_id} has done it, as final blocks show`);
  if (outcome.state === 'final')
    throw new NotSigned(
      'backup',
      `${line.hash} of payout ${line.payout_id} has paid it, as final blocks show: nothing is paid twice. Compare it with an explorer; "payout conclude ${line.payout_id} --tx ${line.hash}" books it`,
    );
  if (outcome.state !== 'dead')
    throw new NotSigned(
      'earlier',
      `${line.hash} of payout ${line.payout_id} is ${outcome.state}: wait until final blocks say that it failed`,
    );
  if (line.nonce !== null && !outcome.replaced)
    throw new NotSigned(
      'earlier',
      `${line.hash} is called dead, and no block shows another transaction in its place: it can land still, so wait`,
    );
  const over = endOf(line, now);
  if (over > now)
    throw new NotSigned('earlier', `${line.hash} can land until ${over.toISOString()}: wait until then`);
}

/** Throws where another payout has paid one of the deposits, unless the database knows that it failed. */
export function requireUnpaid(
  { index, now }: Pick<Bench, 'index' | 'now'>,
  { asked, deposits, outcomes }: Facts,
): void {
  for (const { id } of deposits)
    for (const line of index.ofDeposit(id)) {
      if (line.payout_id === asked.payoutId) continue;
      const outcome = outcomes.get(line.hash);
      if (!outcome || outcome.state === 'foreign') throw forgotten(line, asked);
      requireFailed(line, outcome, now);
    }
}

/** The transfer that was asked for, in its place. Throws {@link NotSigned}. */
export function orderOf(bench: Bench, facts: Facts, kind: Transfer['kind'], sender: Order['sender']): Order {
  const terms = termsOf(bench, facts, kind);
  const { fromKey: from, toKey: to, amountUnits: units, purpose } = facts.asked;
  const transfer = { from, to, kind, units, nonce: placeOfTransfer(bench, facts, terms) };
  return {
    transfer,
    terms,
    sender,
    depositIds: purpose === 'payout' ? facts.deposits.map(({ id }) => id) : [],
  };
}

/**
 * The nonce of a transfer: that of the attempt which it replaces, or the next one of the sender. Null on a
 * chain without. Throws {@link NotSigned} while an earlier attempt may still land that it does not replace,
 * and where it pays too little to replace one.
 */
export function placeOfTransfer(
  { index, transfers, now }: Pick<Bench, 'index' | 'transfers' | 'now'>,
  facts: Facts,
  terms: TransferTerms,
): number | null {
  const { asked, outcomes } = facts;
  const before = index.ofPayout(asked.purpose, asked.payoutId);
  const strange = before.find(
    ({ network, from, to, currency }) =>
      network !== asked.network ||
      from !== asked.fromKey ||
      to !== asked.toKey ||
      currency !== asked.currency,
  );
  if (strange)
    throw new NotSigned(
      'backup',
      `${strange.hash} was signed for this payout, from or to another wallet: find out who wrote the payout`,
    );
  const skipped = before.find(({ attempt }) => attempt >= asked.attempt);
  if (skipped) throw forgotten(skipped, asked);
  if (!transfers.hasNonce) {
    // Only their end says that another one may be signed.
    for (const line of before) {
      const outcome = outcomes.get(line.hash);
      if (!outcome || outcome.state === 'foreign') throw forgotten(line, asked);
      if (asked.purpose !== 'gas' || outcome.state !== 'final') requireFailed(line, outcome, now);
    }
    return null;
  }
  const open = replaced(index, facts);
  if (!open) return nextNonce({ index, transfers }, facts, terms);
  const highest = before
    .filter(({ nonce }) => nonce === open.nonce)
    .reduce((most, { price }) => (price !== null && price > most ? price : most), 0n);
  const least = (highest * (100n + BUMP_PERCENT) + 99n) / 100n;
  if (terms.price === null || terms.price < least)
    throw new NotSigned(
      'terms',
      `it replaces ${open.hash} and has to pay at least ${least} for gas: ask for it with a higher price`,
    );
  return open.nonce;
}

/**
 * The attempt whose place is taken again. All attempts of a payout share one, so that one of them lands at
 * most; a top-up replaces the one before only while that may still land.
 */
export function replaced(index: JournalIndex, { asked, outcomes }: Facts): SignedLine | undefined {
  const { purpose, payoutId } = asked;
  const before = index.ofPayout(purpose, payoutId);
  if (purpose === 'payout') return before[0];
  const last = before.at(-1);
  const outcome = last && outcomes.get(last.hash);
  const isOver = outcome !== undefined && (outcome.state === 'final' || outcome.state === 'dead');
  return isOver ? undefined : last;
}

/**
 * The place after those that the journal knows, and after what the wallet's key has signed elsewhere, as far
 * as that fills one place after the other: what a row or an answer names without that signature moves it by
 * none, because a place once taken is never given back. Throws where what is signed there could not land, so
 * that it is asked for again with what the chain counts by then.
 */
function nextNonce(
  { index, transfers }: Pick<Bench, 'index' | 'transfers'>,
  { asked, proofs }: Facts,
  { chainNonce }: TransferTerms,
): number {
  const { network, fromKey } = asked;
  const last = index.lastNonce(network, fromKey);
  // The gas wallet may have served before this gateway had it, in blocks that nobody has read.
  let next = last === undefined ? (asked.purpose === 'payout' ? 0 : chainNonce) : last + 1;
  if (next === null)
    throw new NotSigned(
      'terms',
      'it is the first of its wallet, and RPC endpoints do not agree on how many that has sent: it is asked for again, so see that they are right',
    );
  const taken = new Set(proofs.flatMap((proof) => transfers.places?.(proof, fromKey) ?? []));
  while (taken.has(next) && next < (chainNonce ?? Number.POSITIVE_INFINITY)) next += 1;
  if (chainNonce === null) return next;
  if (chainNonce > next)
    throw new NotSigned(
      'terms',
      `the chain shows ${chainNonce} transactions of the wallet, and this gateway knows of ${next}: look it up in an explorer, and have the blocks of the others read with "rescan", or take the RPC endpoint out that says so`,
    );
  if (chainNonce < next && !index.holds(network, fromKey, chainNonce))
    throw new NotSigned(
      'terms',
      `the chain shows ${chainNonce} transactions of the wallet, and this signer has signed none with number ${chainNonce}, so none after it can land: look it up in an explorer, and send those between from the wallet's own phrase, or take the RPC endpoint out that says so`,
    );
  return next;
}
