// Pauses, as the journal has seen them: a pause holds until who has SECRETS_KEY has let payouts go on, and
// some time longer, whatever becomes of the rows.
import type { Logger } from '../../base/log.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { CLOCKS_DIFFER_MS, readSeal } from '../../domain/payouts/direction.ts';
import type { Journal } from '../journal.ts';
import type { JournalIndex } from '../journal-index.ts';
import { isAhead } from './directions.ts';
import type { Bench, SignCase } from './facts.ts';
import { notSigned } from './refusal.ts';

/** What was decided of one scope: that of everybody (null), or of one merchant. */
type Decided = {
  readonly merchantId: string | null;
  /** Whether the last row is a pause; whoever writes one above all others makes it another. */
  readonly isPaused: boolean;
  /** Of the newest pause that no clock far ahead has written. */
  readonly pausedAt: string | null;
  /** Of the last row that says that payouts go on. */
  readonly seal: Buffer | null;
};

/** A part of the open signer. */
type Noting = Pick<Bench, 'keys' | 'resumeAfterMs'> & {
  readonly journal: Journal;
  readonly log: Pick<Logger, 'warn'>;
};

/**
 * Notes what was decided about pauses and the journal does not know, the newest of each scope: of everybody,
 * and of this merchant or of each.
 */
export async function notePauses(
  em: Em,
  { journal, keys, log, resumeAfterMs }: Noting,
  { now, merchantId }: { readonly now: Date; readonly merchantId?: string },
): Promise<void> {
  const scope =
    merchantId === undefined ? sql`true` : sql`(merchant_id is null or merchant_id = ${merchantId})`;
  const latest = new Date(now.getTime() + CLOCKS_DIFFER_MS);
  const decided = await rows(
    em,
    sql<Decided>`select merchant_id, (array_agg(kind order by id desc))[1] = 'pause' as is_paused,
        max(at) filter (where kind = 'pause' and at <= ${latest}::timestamptz) as paused_at,
        (array_agg(seal order by id desc) filter (where kind = 'resume'))[1] as seal
      from payout_decisions where kind <> 'retry' and ${scope} group by merchant_id`,
  );
  for (const one of decided) {
    const line = lineOf(journal.index, { keys, now }, one);
    if (!line) continue;
    await journal.append(line, now);
    if (!line.paused)
      log.warn(
        { component: 'signer', merchant: line.merchant_id },
        `payouts that were paused go on in ${resumeAfterMs / 1_000} s: where none of yours let them, stop the signer`,
      );
  }
}

/** What the journal has to note: the seals of before a pause, whenever they come, end it no more. */
function lineOf(
  index: JournalIndex,
  { keys, now }: Pick<Bench, 'keys' | 'now'>,
  { merchantId, isPaused, pausedAt, seal }: Decided,
) {
  const known = index.pause(merchantId);
  const since = known ? Date.parse(known.set_at) : 0;
  const line = { kind: 'pause', merchant_id: merchantId } as const;
  const sealedAt = readSeal(keys, { kind: 'resume', merchantId }, seal);
  const resumed = sealedAt && !isAhead(sealedAt, now) ? sealedAt.getTime() : 0;
  const paused = pausedAt === null ? 0 : new Date(pausedAt).getTime();
  // What ended one before this journal may be sealed under a key that nobody has any more.
  if (isPaused || paused > Math.max(since, resumed, index.begunAt.getTime())) {
    // One of a moment later ends it, though its clock is a little behind.
    const least = known?.paused ? since : now.getTime() - CLOCKS_DIFFER_MS;
    const setAt = Math.max(since, paused, resumed, least);
    // What is written down again and again fills no disk: only so often, and where there is a seal to end.
    if (known?.paused && resumed <= since && setAt - since < CLOCKS_DIFFER_MS) return undefined;
    return { ...line, paused: true, set_at: new Date(setAt).toISOString() };
  }
  if (!known?.paused || resumed <= since) return undefined;
  return { ...line, paused: false, set_at: new Date(resumed).toISOString() };
}

/** Throws `NotSigned` while payouts of a merchant are paused, or were let go on a moment ago. */
export function requireGoing({ index, payout: { merchantId }, resumeAfterMs, now }: SignCase): void {
  for (const line of [index.pause(null), index.pause(merchantId)]) {
    if (!line) continue;
    const [whose, option] =
      line.merchant_id === null
        ? ['all payouts', '']
        : ['payouts of the merchant', ` --merchant ${merchantId}`];
    if (line.paused)
      throw notSigned.paused`${whose} are paused, as this signer has seen at ${line.at}: "payout resume${option}" lets them go on; where that was done already, it was not by who has SECRETS_KEY, or before a restore: "payout pause${option}" and then "payout resume${option}" again`;
    const until = new Date(Date.parse(line.at) + resumeAfterMs);
    if (until > now)
      throw notSigned.paused`${whose} were let go on at ${line.set_at}, and go on at ${until.toISOString()}: where none of yours did that, "payout pause${option}", stop the signer, and find out who has SECRETS_KEY`;
  }
}
