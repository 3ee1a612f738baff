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
import type { DepositActorInput } from '../src/domain/actor-message.ts';
import { advanceActivityId, isUuid, ROW_CHANGED } from '../src/domain/ids.ts';
import { showNeedsOperator, showStage } from './attributes.ts';
import { type Deliveries, openDeliveries } from './deliveries.ts';
import { asLink, asText, paragraphs } from './details.ts';
import { type FailCommand, refuseFail } from './fail-command.ts';
import { refuseInput } from './input.ts';
import { type Looks, openLooks } from './looks.ts';
import { adviceOf, needsOperatorSays, reasonOf } from './needs-operator.ts';
import { areIds, type DepositResult, depositResult, namesIn } from './results.ts';
import {
  ADVANCE_START_TO_CLOSE_MS,
  CRASH_RETRY,
  OPERATOR_START_TO_CLOSE_MS,
  ROW_CHANGED_MEANS,
} from './timeouts.ts';

export type DepositView = {
  readonly state: string;
  readonly needsOperator: boolean;
  readonly note: string;
  readonly webhooks: string;
};

/** Fails an open deposit; returns the state that it has then. Refused once the deposit is no longer open. */
export const failUpdate = defineUpdate<string, [FailCommand]>('fail');
/**
 * Says that the deposit's row has changed, or that somebody
 * wants to be sure. It carries nothing: the row does.
 */
export const changedSignal = defineSignal(ROW_CHANGED);
/** What the actor knows, for operators; merchants ask the API. */
export const viewQuery = defineQuery<DepositView>('view');

const MAX_SHOWN_NAME = 40;

/**
 * One deposit from its first event to its last webhook. It holds no truth of its own: every step reads the
 * row and says what is to be delivered, so a second start, a reset or a lost store only makes it look again.
 * A completed deposit that will be paid out waits for that, without a timer: whoever settles it says so.
 * It ends when the actor has no step left to take, everything is delivered, and nobody said meanwhile that
 * the row has changed. What people press in the Web UI ends in another look: a request to cancel changes
 * nothing, a signal makes it read the row, and an activity that was ended by hand is asked again.
 */
export async function deposit(input: DepositActorInput): Promise<{ state: string }> {
  if (!isUuid(String(input?.depositId))) throw refuseInput('depositId');
  if (!areIds(input.deliveries)) throw refuseInput('deliveries');
  return await CancellationScope.nonCancellable(() => run(input));
}

/** What the actor knows of its row. */
type Actor = {
  readonly depositId: string;
  readonly generation: number;
  readonly simulated: boolean;
  readonly deliveries: Deliveries;
  readonly looks: Looks;
  state: string;
  sequence: number;
  needsOperator: boolean;
  note: string;
  /** What an operator can do; empty where nobody has to do anything. */
  action: string;
  /** Where the transaction is looked up; empty where nobody knows. */
  explorer: string;
  /** The deposit is completed, and there is a payout to wait for. */
  foreseen: boolean;
  /** The row is in a later generation, which has an actor of its own. */
  succeeded: boolean;
  /**
   * Counts the operator's decisions that were carried out: the result
   * of a step that was asked for before one is outdated after it.
   */
  decisions: number;
};

async function run(input: DepositActorInput): Promise<{ state: string }> {
  const { depositId, generation, state, sequence, rests: simulated } = input;
  const deliveries = openDeliveries('deposit webhook', () => show(actor));
  const looks = openLooks();
  const flags = {
    needsOperator: false,
    note: '',
    action: '',
    explorer: '',
    foreseen: false,
    succeeded: false,
    decisions: 0,
  };
  const actor: Actor = { depositId, generation, simulated, deliveries, looks, state, sequence, ...flags };
  setHandler(
    viewQuery,
    () => ({
      state: actor.state,
      needsOperator: actor.needsOperator,
      note: actor.note,
      webhooks: deliveries.summary(),
    }),
    { description: 'What the actor knows of its deposit: state, why it waits, and its webhooks.' },
  );
  setHandler(changedSignal, () => looks.news(), { description: ROW_CHANGED_MEANS });
  // Without a scope of its own, a handler would run in the
  // one that a request to cancel has cancelled for ever.
  setHandler(failUpdate, (command) => CancellationScope.nonCancellable(() => fail(actor, command)), {
    validator: (command) => refuseFail(actor, command),
    description:
      'Fails the open deposit. Input: {"by": who decided, "reason": why}. Refused unless "gateway deposit fail" wrote the decision down: use that.',
  });
  deliveries.name(namesIn(input));
  deliveries.start(input.deliveries);
  for (;;) {
    show(actor);
    if (isOver(actor) && looks.upToDate()) {
      await condition(() => !looks.upToDate() || (deliveries.settled() && allHandlersFinished()));
      if (looks.upToDate()) break;
    } else if (awaitsPayout(actor)) await condition(() => !looks.upToDate());
    await step(actor);
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      // The new run reads the row first, and takes over every delivery that is not finished.
      return await continueAsNew<typeof deposit>({ ...input, sequence: 0, deliveries: [] });
    }
  }
  show(actor);
  return { state: actor.state };
}

/**
 * One look at the row: waits as one pending activity whose last
 * failure says why, until the chain permits a step or there is news.
 */
async function step(actor: Actor): Promise<void> {
  const { depositId, generation, needsOperator: alarmed, decisions, deliveries, looks, state } = actor;
  const { advanceDeposit } = proxyActivities<Activities>({
    startToCloseTimeout: ADVANCE_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    activityId: advanceActivityId(state),
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: `${state} →${alarmed ? ' (alarm raised)' : ''}`,
  });
  // When news caused this look, the row is asked for everything (sequence 0):
  // whoever sent the news may know of something that the actor was never told.
  const sequence = looks.upToDate() ? actor.sequence : 0;
  const ended = deliveries.ended();
  let answer: DepositResult | undefined;
  try {
    answer = await looks.look(
      () => advanceDeposit({ depositId, generation, sequence, alarmed }),
      depositResult,
      needsOperatorSays,
    );
  } catch (error) {
    if (actor.decisions !== decisions) return;
    actor.needsOperator = true;
    actor.note = reasonOf(error);
    Object.assign(actor, adviceOf(error));
    showNeedsOperator(true);
    return;
  }
  if (!answer) return;
  deliveries.name(answer.names);
  deliveries.start(answer.deliveries, ended);
  if (actor.decisions === decisions) learn(actor, answer);
}

function learn(actor: Actor, answer: Omit<DepositResult, 'deliveries' | 'names'>): void {
  actor.succeeded = answer.generation !== actor.generation;
  actor.note = actor.succeeded
    ? `came back as generation ${answer.generation}, which has an actor of its own`
    : answer.note;
  if (actor.succeeded) return;
  if (answer.state !== actor.state) showStage(answer.state, answer.since);
  else if (actor.needsOperator) showNeedsOperator(false);
  actor.needsOperator = false;
  actor.state = answer.state;
  actor.sequence = answer.sequence;
  actor.foreseen = answer.foreseen;
  actor.action = '';
  if (answer.explorer !== '') actor.explorer = answer.explorer;
}

async function fail(actor: Actor, { by, reason }: FailCommand): Promise<string> {
  const { depositId, generation, deliveries, looks } = actor;
  const { failDeposit } = proxyActivities<Activities>({
    startToCloseTimeout: OPERATOR_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    summary: `fail, asked for by ${by.slice(0, MAX_SHOWN_NAME)}`,
  });
  const answer = depositResult(await failDeposit({ depositId, generation, by, reason }));
  if (answer) {
    actor.decisions += 1;
    learn(actor, { ...answer, note: reason });
    deliveries.name(answer.names);
    deliveries.start(answer.deliveries);
  }
  looks.news();
  if (!answer)
    throw ApplicationFailure.nonRetryable(
      'its answer was set by hand; see with "deposit show" what became of the deposit',
    );
  return answer.state;
}

/** Whether the actor has no step left to take. */
function isOver(actor: Actor): boolean {
  const { state, sequence, simulated, succeeded } = actor;
  if (sequence === 0) return false;
  if (simulated || succeeded || state === 'settled' || state === 'failed') return true;
  return state === 'completed' && !actor.foreseen;
}

/** Whether nothing is left to do but to wait for the payout, whose end is told. */
function awaitsPayout({ state, sequence, foreseen, looks }: Actor): boolean {
  return sequence !== 0 && state === 'completed' && foreseen && looks.upToDate();
}

/** What a person sees who opens the actor: the reason, what to do, where to look, and what was sent. */
function show(actor: Actor): void {
  const { state, note, action, explorer, deliveries } = actor;
  setCurrentDetails(
    paragraphs(
      `**${state}**`,
      asText(awaitsPayout(actor) ? 'waits for its payout' : note),
      action === '' ? '' : `→ ${asText(action)}`,
      asLink('The transaction in an explorer', explorer),
      asText(deliveries.summary()),
    ),
  );
}
