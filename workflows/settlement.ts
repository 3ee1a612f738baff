import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SettlementActorInput } from '../src/domain/actor-message.ts';
import { NETWORKS } from '../src/domain/assets.ts';
import { isAddressKey, ROW_CHANGED } from '../src/domain/ids.ts';
import type { PayoutDecisionKind } from '../src/domain/payouts/pause.ts';
import { showNeedsOperator, showStage } from './attributes.ts';
import { asText, paragraphs } from './details.ts';
import { refuseInput } from './input.ts';
import { type Looks, openLooks } from './looks.ts';
import { needsOperatorSays, reasonOf } from './needs-operator.ts';
import { type PayoutCommand, refuseCommand } from './payout-command.ts';
import { type SettlementResult, settlementResult } from './results.ts';
import {
  CRASH_RETRY,
  OPERATOR_START_TO_CLOSE_MS,
  ROW_CHANGED_MEANS,
  SETTLE_START_TO_CLOSE_MS,
} from './timeouts.ts';

export type SettlementView = {
  readonly state: string;
  readonly needsOperator: boolean;
  readonly note: string;
};

/** Says that there may be more to pay out, or that what stood in the way is gone. It carries nothing. */
export const changedSignal = defineSignal(ROW_CHANGED);
/** What the actor knows, for operators; merchants ask the API. */
export const settlementViewQuery = defineQuery<SettlementView>('view');

/**
 * What operators decide about payouts. Each was written down before it is sent here, and is refused where it
 * was not: the rows say what holds, and the actor only looks at them at once, also out of a long wait.
 * Returns what it knew when it was told.
 */
export const retryUpdate = defineUpdate<SettlementView, [PayoutCommand]>('retry');
export const pauseUpdate = defineUpdate<SettlementView, [PayoutCommand]>('pause');
export const resumeUpdate = defineUpdate<SettlementView, [PayoutCommand]>('resume');

const MAX_SHOWN_NAME = 40;

/**
 * Pays out what was completed on one of our addresses, one payout after the other, until nothing is left
 * that could be. It holds no truth of its own: every step reads the rows, decides and makes one change, so a
 * second start, a reset or a lost store only makes it look again. It ends when a step found nothing to do and
 * nobody said meanwhile that something has changed; whoever changes something starts it again. What people
 * press in the Web UI ends in another look, as for the actor of a deposit.
 */
export async function settlement(input: SettlementActorInput): Promise<{ note: string }> {
  if (!(NETWORKS as readonly unknown[]).includes(input?.network)) throw refuseInput('network');
  if (!isAddressKey(input.addressKey)) throw refuseInput('addressKey');
  return await CancellationScope.nonCancellable(() => run(input));
}

/** What the actor knows. */
type Seen = { state: string; note: string; needsOperator: boolean };

async function run(input: SettlementActorInput): Promise<{ note: string }> {
  const looks = openLooks();
  const seen: Seen = { state: '', note: '', needsOperator: false };
  setHandler(settlementViewQuery, () => ({ ...seen }), {
    description: 'What the actor knows of the payouts of its address: state, and why nothing goes on.',
  });
  setHandler(changedSignal, () => looks.news(), { description: ROW_CHANGED_MEANS });
  for (const [kind, update] of [
    ['retry', retryUpdate],
    ['pause', pauseUpdate],
    ['resume', resumeUpdate],
  ] as const)
    setHandler(
      update,
      // A scope of its own: the workflow's is cancelled for ever by a request to cancel.
      (command) => CancellationScope.nonCancellable(() => decide(input, kind, command, seen, looks)),
      {
        validator: refuseCommand,
        description: `Lets the actor act on a decision at once. Input: {"by": who decided, "reason": why or null}. Refused unless "gateway payout ${kind}" wrote the decision down: use that.`,
      },
    );
  for (;;) {
    const answer = await step(input, seen, looks);
    if (answer) learn(seen, answer);
    show(seen);
    if (answer?.kind === 'rest' && looks.upToDate()) {
      await condition(() => !looks.upToDate() || allHandlersFinished());
      if (looks.upToDate()) return { note: seen.note };
    }
    // The new run reads the rows first: nothing has to be handed over to it.
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      return await continueAsNew<typeof settlement>(input);
    }
  }
}

/**
 * One look at the rows: waits as one pending activity whose last failure says
 * why, until a step is made, none is left to make, or there is news.
 */
async function step(
  { network, addressKey }: SettlementActorInput,
  seen: Seen,
  looks: Looks,
): Promise<SettlementResult | undefined> {
  const alarmed = seen.needsOperator;
  const { advanceSettlement } = proxyActivities<Activities>({
    startToCloseTimeout: SETTLE_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    activityId: 'advance',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: `${seen.state === '' ? 'look' : `${seen.state} →`}${alarmed ? ' (alarm raised)' : ''}`,
  });
  try {
    return await looks.look(
      () => advanceSettlement({ network, addressKey, alarmed }),
      settlementResult,
      needsOperatorSays,
    );
  } catch (error) {
    seen.needsOperator = true;
    seen.note = reasonOf(error);
    showNeedsOperator(true);
    return undefined;
  }
}

/** Makes sure that the decision is one, and looks at the rows at once. */
async function decide(
  { network, addressKey }: SettlementActorInput,
  kind: PayoutDecisionKind,
  { by, reason = null }: PayoutCommand,
  seen: Seen,
  looks: Looks,
): Promise<SettlementView> {
  const { requirePayoutDecision } = proxyActivities<Activities>({
    startToCloseTimeout: OPERATOR_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    summary: `${kind}, asked for by ${by.slice(0, MAX_SHOWN_NAME)}`,
  });
  const answer: unknown = await requirePayoutDecision({ network, addressKey, kind, by, reason });
  if (answer !== true)
    throw ApplicationFailure.nonRetryable('its answer was set by hand; decide with "gateway payout" again');
  looks.news();
  return { ...seen };
}

function learn(seen: Seen, answer: SettlementResult): void {
  const state = answer.kind === 'went' ? answer.state : seen.state;
  if (state !== seen.state) showStage(state, new Date().toISOString());
  else if (seen.needsOperator) showNeedsOperator(false);
  seen.needsOperator = false;
  seen.state = state;
  seen.note = answer.note;
}

function show({ state, note }: Seen): void {
  setCurrentDetails(paragraphs(state === '' ? '' : `**${state}**`, asText(note)));
}
