import type { DepositView } from '../../../contract/deposit.ts';
import { Deposit } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { plainRows } from '../../../db/plain-rows.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import type { WaitCode } from '../../../domain/payouts/waits.ts';
import type { Deps } from '../../deps.ts';
import { type MerchantPayoutView, merchantPayoutViews } from '../../payouts/views.ts';
import { type WaitWords, waitWords } from '../../payouts/words.ts';
import type { Scope } from '../../scope.ts';
import { eventsOfSubject, type StoryEvent } from '../../webhooks/shown/subject-events.ts';
import { readDeposit } from '../reads.ts';
import { inTime, type StoryStep, stepsOf } from './steps.ts';

/** Everything that its merchant may know about a deposit. */
export type DepositStory = {
  readonly deposit: DepositView;
  /** What it waits for at present; null where nothing is awaited. */
  readonly waits_for: string | null;
  /** Oldest first. */
  readonly timeline: readonly StoryStep[];
  /** The payout that covers it; null while none does. */
  readonly payout: MerchantPayoutView | null;
  /** Why it is not paid out yet; null where nothing is in the way. */
  readonly wait: WaitWords | null;
  /** Oldest first. */
  readonly events: readonly StoryEvent[];
  /** There is more than is shown: the newest is. */
  readonly is_cut: boolean;
};

/** The story of a deposit of this merchant and mode. Throws a NOT_FOUND `Refusal`. */
export async function depositStory(
  deps: Deps,
  { id, merchantId, mode }: Scope & { readonly id: string },
): Promise<DepositStory> {
  const em = deps.orm.em.fork();
  const scope: Scope = { merchantId, mode };
  const deposit = await readDeposit(em, { id, ...scope });
  const [row] = await plainRows(em, Deposit, { id, merchantId, mode }, [
    'payoutId',
    'addressKey',
    'createdAt',
    'simulated',
  ]);
  const { steps, isCut } = await stepsOf(em, deposit);
  const [payout = null] = row?.payoutId == null ? [] : await merchantPayoutViews(em, [row.payoutId]);
  const wait = payout ? payout.wait : row ? await waitOf(em, deposit, row) : null;
  const events = await eventsOfSubject(em, scope, { subjectId: id, since: row?.createdAt ?? new Date(0) });
  return {
    deposit,
    waits_for: row?.simulated ? null : waitsFor(deposit, payout, wait),
    timeline: withPlan(inTime(steps), payout),
    payout,
    wait,
    events: events.events,
    is_cut: isCut || events.isCut,
  };
}

/** The steps with the plan of the payout in its place: a simulated one is planned and paid at once. */
function withPlan(steps: readonly StoryStep[], payout: MerchantPayoutView | null): readonly StoryStep[] {
  if (!payout) return steps;
  const plan = plannedStep(payout);
  const next = steps.findIndex(
    (step) => step.at > plan.at || (step.kind === 'state' && step.state === 'settled'),
  );
  return steps.toSpliced(next < 0 ? steps.length : next, 0, plan);
}

function plannedStep({ created_at: at, transaction_hash: hash }: MerchantPayoutView): StoryStep {
  return {
    kind: 'payout',
    at,
    words: 'A payout to your withdraw address was planned.',
    transaction_hash: hash,
  };
}

function waitsFor(
  deposit: DepositView,
  payout: MerchantPayoutView | null,
  wait: WaitWords | null,
): string | null {
  const { status, block_hash: block, confirmations, required_confirmations: required } = deposit;
  if (status === 'completed' && block === null && payout === null)
    return 'Its block was replaced after it was credited: it is not paid out before another one holds it.';
  if (status === 'completed') return wait?.words ?? 'Waits for its payout.';
  if (status !== 'detected' && status !== 'confirming') return null;
  if (block === null)
    return 'Its block was replaced: waits until the chain has decided what takes its place.';
  if (confirmations < required) return `Has ${confirmations} of ${required} confirmations.`;
  // Which of them is missing is known to the actor alone: said is what is true of each.
  return 'Has its confirmations: it counts once its block is final, was read a second time, and has a price.';
}

/** Why nothing is planned at a deposit's address. */
async function waitOf(
  em: Em,
  { status, network, is_live: isLive }: DepositView,
  { addressKey }: Pick<Deposit, 'addressKey'>,
): Promise<WaitWords | null> {
  if (status !== 'completed' || !isLive) return null;
  const row = await firstRow(
    em,
    sql<{ code: WaitCode; since: string }>`select code, since from settlement_waits
      where network = ${network} and address_key = ${addressKey} and payout_id is null`,
  );
  return row ? waitWords(row.code, row.since) : null;
}
