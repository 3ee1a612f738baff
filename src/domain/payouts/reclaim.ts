// What becomes of energy that an address was lent for a payout which is over, from rows alone.
import { isGivenUp, sentenceOf, signerSays } from './asked.ts';
import {
  backOffMs,
  canLand,
  isDue,
  type LivingFacts,
  LONGEST_LOOK_MS,
  type SentFacts,
  type Wait,
  waits,
} from './facts.ts';

export type ReclaimFacts = Pick<LivingFacts, 'signer' | 'now' | 'resendMs' | 'blockLookMs' | 'retriedAt'> & {
  /** What lent it. */
  readonly loan: SentFacts;
  /** What was asked for to take it back. */
  readonly sent: readonly SentFacts[];
};

export type ReclaimStep =
  | (Wait & {
      /** Nothing that takes it back is under way: other payouts of the address need not wait for it. */
      readonly idle: boolean;
    })
  /** Final blocks show that it was taken back. */
  | { readonly does: 'returned' }
  /** It was lent by nothing that can still land. */
  | { readonly does: 'never_lent' }
  | { readonly does: 'send'; readonly id: string }
  | { readonly does: 'give_up'; readonly id: string; readonly reason: string }
  | { readonly does: 'ask' };

/**
 * The next step of taking back what an address was lent. One transaction at a time may do that: what is
 * under way ends first. A wait that is not idle keeps the next payout of the address from being planned,
 * which would count on energy that is about to go.
 */
export function decideReclaim(facts: ReclaimFacts): ReclaimStep {
  const { loan, sent, now, signer, resendMs, blockLookMs } = facts;
  if (sent.some(({ state, ok }) => state === 'final' && ok === true)) return { does: 'returned' };
  if (loan.state !== 'final') {
    if (!canLand(loan)) return { does: 'never_lent' };
    return busy(waits('on_its_way', 'what lent it energy is in no final block yet', blockLookMs));
  }
  const open = sent.find(({ state, expired }) => state !== 'dead' && state !== 'final' && !expired);
  if (!open) return tryAgain(facts);
  if (open.state === 'asked') {
    if (isGivenUp(open, facts)) return { does: 'give_up', id: open.id, reason: sentenceOf(open) };
    return busy({ does: 'wait', ...signerSays(open, signer, now) });
  }
  if (open.state === 'mined')
    return busy(
      waits('on_its_way', 'what takes its energy back is in a block that is not final yet', blockLookMs),
    );
  if (open.sentAt === null) return { does: 'send', id: open.id };
  const wait = waits(
    'on_its_way',
    'what takes its energy back was sent, and no block has it yet',
    blockLookMs,
  );
  return busy(isDue(open.sentAt, now, resendMs) ? { ...wait, wakes: open.id } : wait);
}

/** The first time that nothing took it back it is tried again at once. */
function tryAgain({ sent, now, retriedAt }: ReclaimFacts): ReclaimStep {
  const last = Math.max(0, ...sent.map(({ askedAt }) => askedAt.getTime()));
  if (sent.length < 2 || (retriedAt !== null && retriedAt.getTime() > last)) return { does: 'ask' };
  const leftMs = last + backOffMs(sent.length - 2) - now.getTime();
  if (leftMs <= 0) return { does: 'ask' };
  const again = new Date(now.getTime() + leftMs).toISOString();
  return {
    ...waits(
      'failed_again',
      `the energy that it was lent was not taken back in ${sent.length} attempts: see that the gas wallet has coins for its bytes (1 is enough), and with an explorer what it lends; it is tried again at ${again}, or at once with "payout retry"`,
      Math.min(leftMs, LONGEST_LOOK_MS),
    ),
    idle: true,
  };
}

const busy = (wait: Wait): ReclaimStep => ({ ...wait, idle: false });
