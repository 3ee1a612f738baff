import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  proxyActivities,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { DepositActorInput } from '../src/domain/actor-message.ts';
import { advanceActivityId } from '../src/domain/ids.ts';
import { showNeedsOperator, showStage } from './attributes.ts';
import { openDeliveries } from './deliveries.ts';
import { ADVANCE_START_TO_CLOSE_MS, CRASH_RETRY, NEEDS_OPERATOR, OPERATOR_START_TO_CLOSE_MS } from './timeouts.ts';

export type FailCommand = { readonly by: string; readonly reason: string };
export type DepositView = { readonly state: string; readonly needsOperator: boolean; readonly note: string; readonly webhooks: string };

/** Fails an open deposit; answers with the state it has then. Refused while the deposit is at its end. */
export const failUpdate = defineUpdate<string, [FailCommand]>('fail');
/** What the actor knows, for operators; merchants ask the API. */
export const viewQuery = defineQuery<DepositView>('view');

const MAX_TEXT = 500;

/**
 * One deposit from its first event to its last webhook. It holds no truth of its own: every step reads the row and says what is to be
 * delivered, so a second start, a reset or a lost store only makes it look again. Ends when the deposit rests and all is delivered.
 */
export async function deposit(input: DepositActorInput): Promise<{ state: string }> {
  return await CancellationScope.nonCancellable(() => run(input));
}

async function run(input: DepositActorInput): Promise<{ state: string }> {
  const deliveries = openDeliveries('deposit webhook');
  let state = input.state;
  let needsOperator = false;
  let note = '';
  let waiting: CancellationScope | undefined;
  let decided = false;

  setHandler(viewQuery, () => ({ state, needsOperator, note, webhooks: deliveries.summary() }));
  setHandler(
    failUpdate,
    async (command) => {
      const { failDeposit } = proxyActivities<Activities>({
        startToCloseTimeout: OPERATOR_START_TO_CLOSE_MS,
        retry: CRASH_RETRY,
        summary: `fail, asked for by ${command.by}`,
      });
      const result = await failDeposit({ depositId: input.depositId, ...command });
      // The decision is the last step: the loop ends without another look, whose activity id could still be in use.
      state = result.state;
      note = command.reason;
      needsOperator = false;
      decided = true;
      showStage(result.state, result.since);
      deliveries.start(result.deliveries);
      waiting?.cancel();
      return result.state;
    },
    { validator: (command) => refuseFail(state, input.rests, command) },
  );

  deliveries.start(input.deliveries);
  while (!rests(state, input.rests)) {
    show(state, note);
    const scope = new CancellationScope({ cancellable: true });
    waiting = scope;
    try {
      const from = state;
      const step = await scope.run(() => advanceFrom(from, needsOperator, input.depositId));
      deliveries.start(step.deliveries);
      if (decided) break;
      note = step.note;
      if (step.state !== state) showStage(step.state, step.since);
      else if (needsOperator) showNeedsOperator(false);
      needsOperator = false;
      state = step.state;
    } catch (error) {
      if (decided) break;
      if (isNeedsOperator(error)) {
        needsOperator = true;
        note = reasonOf(error);
        showNeedsOperator(true);
      } else throw error;
    }
  }
  waiting = undefined;
  show(state, note);
  await deliveries.settled();
  await condition(allHandlersFinished);
  show(state, deliveries.summary());
  return { state };
}

type Step = Awaited<ReturnType<Activities['advanceDeposit']>>;

/** Waits as one pending activity whose last failure says why. */
async function advanceFrom(state: string, alarmed: boolean, depositId: string): Promise<Step> {
  const { advanceDeposit } = proxyActivities<Activities>({
    startToCloseTimeout: ADVANCE_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    activityId: advanceActivityId(state, alarmed),
    cancellationType: 'TRY_CANCEL',
    summary: `${state} →${alarmed ? ' (alarm raised)' : ''}`,
  });
  return await advanceDeposit({ depositId, alarmed });
}

/** Where the actor has nothing more to move. Settlement will make `completed` a state to wait in. */
function rests(state: string, simulated: boolean): boolean {
  return simulated || state === 'completed' || state === 'settled' || state === 'failed';
}

function refuseFail(state: string, simulated: boolean, command: FailCommand): void {
  if (simulated) throw new Error('a simulated deposit rests as it is; simulate another one with the outcome you need');
  if (state !== 'detected' && state !== 'confirming') throw new Error(`the deposit is ${state}; only an open one can be failed here`);
  if (typeof command?.by !== 'string' || command.by.trim() === '' || command.by.length > 120) throw new Error('"by" must name who decided');
  if (typeof command.reason !== 'string' || command.reason.trim() === '' || command.reason.length > MAX_TEXT)
    throw new Error('"reason" must say why, in at most 500 characters');
}

function show(state: string, note: string): void {
  setCurrentDetails(`**${state}**${note === '' ? '' : `\n\n${note}`}`);
}

function isNeedsOperator(error: unknown): boolean {
  return error instanceof ActivityFailure && error.cause instanceof ApplicationFailure && error.cause.type === NEEDS_OPERATOR;
}

function reasonOf(error: unknown): string {
  return error instanceof ActivityFailure && error.cause ? error.cause.message : String(error);
}
