// Pauses, as the journal has seen them: a pause holds until who has SECRETS_KEY has let payouts go on, and
// some time longer, whatever becomes of the rows.
import type { Logger } from '../../base/log.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { CLOCKS_DIFFER_MS, readSeal } from '../../domain/payouts/direction.ts';
import type { Journal } from '../journal.ts';
import type { JournalIndex } from '../journal-index.ts';
import type { PauseLine } from '../journal-lines.ts';
import { isAhead, type SealJudge } from './directions.ts';
import { NotSigned } from './refusal.ts';

type Decision = {
  readonly kind: 'pause' | 'resume';
  readonly merchantId: string | null;
  readonly seal: Buffer | null;
};

/** A part of the open signer. */
type Noting = Pick<SealJudge, 'keys'> & {
  readonly journal: Journal;
  readonly log: Pick<Logger, 'warn'>;
  readonly resumeAfterMs: number;
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
  const newest = await rows(
    em,
    sql<Decision>`select distinct on (merchant_id) kind, merchant_id, seal from payout_decisions
      where kind <> 'retry' and ${scope} order by merchant_id, id desc`,
  );
  for (const decision of newest) {
    const line = lineOf(journal.index, { keys, now }, decision);
    if (!line) continue;
    await journal.append(line, now);
    if (!line.paused)
      log.warn(
        { component: 'signer', merchant: line.merchant_id },
        `payouts that were paused go on in ${resumeAfterMs / 1_000} s: where none of yours let them, stop the signer`,
      );
  }
}

function lineOf(
  index: JournalIndex,
  { keys, now }: Pick<SealJudge, 'keys' | 'now'>,
  { kind, merchantId, seal }: Decision,
) {
  const known = index.pause(merchantId);
  const line = { kind: 'pause', merchant_id: merchantId } as const;
  const isPaused = known?.paused === true;
  if (kind === 'pause') {
    if (isPaused) return undefined;
    // No resume of before ends it, and one of a moment later does, though its clock is a little behind.
    const least = Math.max(now.getTime() - CLOCKS_DIFFER_MS, known ? Date.parse(known.set_at) : 0);
    return { ...line, paused: true, set_at: new Date(least).toISOString() };
  }
  if (!isPaused) return undefined;
  const origin = readSeal(keys, { kind, merchantId }, seal);
  if (!origin || isAhead(origin.at, now) || origin.at <= new Date(known.set_at)) return undefined;
  return { ...line, paused: false, set_at: origin.at.toISOString() };
}

/** Throws {@link NotSigned} while payouts of a merchant are paused, or were let go on a moment ago. */
export function requireGoing(
  index: JournalIndex,
  merchantId: string,
  { resumeAfterMs, now }: { readonly resumeAfterMs: number; readonly now: Date },
): void {
  for (const line of [index.pause(null), index.pause(merchantId)]) {
    const until = line && goesOnAt(line, resumeAfterMs);
    if (!line || (until && until <= now)) continue;
    const [whose, option] =
      line.merchant_id === null
        ? ['all payouts', '']
        : ['payouts of the merchant', ` --merchant ${merchantId}`];
    throw new NotSigned(
      'paused',
      until
        ? `${whose} were let go on at ${line.set_at}, and go on at ${until.toISOString()}: where none of yours did that, "payout pause${option}", stop the signer, and find out who has SECRETS_KEY`
        : `${whose} are paused, as this signer has seen at ${line.at}: "payout resume${option}" lets them go on; where that was done already, it was not by who has SECRETS_KEY, or before a restore: "payout pause${option}" and then "payout resume${option}" again`,
    );
  }
}

const goesOnAt = ({ paused, at }: PauseLine, resumeAfterMs: number): Date | undefined =>
  paused ? undefined : new Date(Date.parse(at) + resumeAfterMs);
