// Whether payouts are paused, and the decisions of people about them. A decision is a row before anybody acts
// by it (docs/adr/0013), and the newest one of its kind is what counts.
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import { sealDirection, sealTime } from '../../domain/payouts/direction.ts';
import type { Pause, PayoutDecisionKind } from '../../domain/payouts/pause.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps, TxDeps } from '../deps.ts';
import { requireKnownMerchant } from '../merchants/known.ts';
import { Refusal } from '../refusal.ts';
import { endHold, openRestore, unknownSinceRestore } from '../restores/hold.ts';
import { type DecisionPlace, writeDecision } from './decisions.ts';
import { wakePayable } from './wakes.ts';

/** The newest decision of each scope to pause payouts or to let them go on; there are few. */
const NEWEST = sql<Pause & { kind: PayoutDecisionKind }>`select distinct on (merchant_id) kind, merchant_id,
  by_name, reason, at from payout_decisions where kind <> 'retry' order by merchant_id, id desc`;

/** The pauses that hold at present, that of the whole installation first. */
export async function readPauses(em: Em): Promise<readonly Pause[]> {
  const found = await rows(
    em,
    sql<Pause>`select * from (${NEWEST}) newest where kind = 'pause' order by merchant_id nulls first`,
  );
  return found.map(({ merchantId, byName, reason, at }) => ({
    merchantId,
    byName,
    reason,
    at: new Date(at),
  }));
}

/** The pause that holds for a merchant's payouts; undefined while they go on. */
export async function readPause(em: Em, merchantId: string): Promise<Pause | undefined> {
  const pauses = await readPauses(em);
  return pauses.find((pause) => pause.merchantId === null || pause.merchantId === merchantId);
}

/** A condition: whether the payouts of a merchant are paused, whose id is in this column. */
export const isPausedSql = (merchantId: string) =>
  sql<boolean>`exists (select 1 from (${NEWEST}) newest where newest.kind = 'pause'
    and (newest.merchant_id is null or newest.merchant_id = ${sql.ref(merchantId)}))`;

export type PauseOrder = {
  /** Null for the whole installation. */
  readonly merchantId: string | null;
  readonly paused: boolean;
  readonly reason?: string | null | undefined;
};

export type PauseOutcome = {
  /** False where it was so already: nothing was written then. */
  readonly changed: boolean;
  /** How many addresses were told to look again. */
  readonly woken: number;
};

/**
 * Pauses payouts or lets them go on, with the audit row beside it. Nothing new is planned or signed from its
 * commit on; what is signed goes on. Throws a `Refusal` for an unknown merchant, and where all payouts are to
 * go on that are held after a restore.
 */
export async function setPaused(deps: Deps, order: PauseOrder): Promise<PauseOutcome> {
  return await deps.orm.em.fork().transactional(async (em) => {
    await requireKnownMerchant(em, order.merchantId ?? undefined);
    if (order.merchantId === null && !order.paused) await requireAllKnown(em, deps);
    return await applyPause(em, deps, order);
  });
}

/** Payouts of a restored database go on when everything is known again that happened since the backup. */
async function requireAllKnown(em: Em, deps: Deps): Promise<void> {
  const restore = await openRestore(em);
  if (!restore) return;
  const [first] = await unknownSinceRestore(em, deps.settings.payments.watchedNetworks, restore);
  if (first !== undefined)
    throw new Refusal(
      'INVALID',
      `Payouts are held since the restore of ${restore.restoredAt.toISOString().slice(0, 19)}Z, because ${first}. "doctor" says what else is left; then run this again.`,
    );
  await endHold(em, deps);
}

/**
 * {@link setPaused} for a merchant that is known, in the caller's transaction. Who lets payouts go on holds
 * SECRETS_KEY; who pauses them needs no key.
 */
export async function applyPause(em: Em, deps: TxDeps, order: PauseOrder): Promise<PauseOutcome> {
  const { merchantId, paused, reason = null } = order;
  // The merchant before the lock of all pauses, as whoever changes the merchant besides takes them.
  if (merchantId !== null) await run(em, sql`select 1 from merchants where id = ${merchantId} for key share`);
  // Of two at once the second one sees what the first has decided.
  await run(em, sql`select pg_advisory_xact_lock(hashtextextended('payouts paused', 0))`);
  const was = (await readPauses(em)).some((pause) => pause.merchantId === merchantId);
  if (was === paused) return { changed: false, woken: 0 };
  const kind = paused ? 'pause' : 'resume';
  const resumed = paused ? {} : { resumed: await sealedResume(em, deps, merchantId) };
  await writeDecision(em, deps, { kind, merchantId, place: null, reason, ...resumed });
  const subject = merchantId ?? 'all payouts';
  const facts = (value: boolean) => ({ payouts_paused: value });
  await recordAction(em, deps, {
    action: `payout.${kind}`,
    merchantId,
    subject,
    before: facts(was),
    after: facts(paused),
    reason,
  });
  return { changed: true, woken: paused ? 0 : await wakePayable(em, deps, merchantId) };
}

/** Newer than every decision before it of the same scope, by whatever clock that was made. */
async function sealedResume(em: Em, { secretBox, now }: TxDeps, merchantId: string | null) {
  const before = await firstRow(
    em,
    sql<{ at: string | null }>`select max(at) as at from payout_decisions
      where kind <> 'retry' and merchant_id is not distinct from ${merchantId}::uuid`,
  );
  const at = sealTime(now(), before?.at == null ? undefined : new Date(before.at));
  return { at, seal: sealDirection(secretBox, { kind: 'resume', merchantId }, at) };
}

/** A decision as somebody repeats it. */
export type RecordedDecision = {
  readonly kind: PayoutDecisionKind;
  readonly by: string;
  readonly reason: string | null;
};

/** Whether this very decision is recorded about the payouts of an address; a pause must be the newest. */
export async function isDecided(
  em: Em,
  { network, addressKey }: DecisionPlace,
  { kind, by, reason }: RecordedDecision,
): Promise<boolean> {
  const which =
    kind === 'retry'
      ? sql`select 1 from payout_decisions d where d.kind = 'retry' and d.network = ${network}
          and d.address_key = ${addressKey} and d.by_name = ${by} and d.reason is not distinct from ${reason}`
      : sql`select 1 from (${NEWEST}) d where d.kind = ${kind} and d.by_name = ${by}
          and d.reason is not distinct from ${reason} and (d.merchant_id is null or d.merchant_id = (
            select merchant_id from deposit_addresses where network = ${network}
              and address_key = ${addressKey}))`;
  return (await firstRow(em, sql`select 1 as one from (${which} limit 1) found`)) !== undefined;
}
