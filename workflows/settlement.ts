import {
  CancellationScope,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SettlementActorInput } from '../src/domain/actor-message.ts';
import { NETWORKS } from '../src/domain/assets.ts';
import { isAddressKey, ROW_CHANGED } from '../src/domain/ids.ts';
import { showNeedsOperator, showStage } from './attributes.ts';
import { refuseInput } from './input.ts';
import { type Looks, openLooks } from './looks.ts';
import { needsOperatorSays, reasonOf } from './needs-operator.ts';
import { type SettlementResult, settlementResult } from './results.ts';
import { CRASH_RETRY, SETTLE_START_TO_CLOSE_MS } from './timeouts.ts';

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
  setHandler(settlementViewQuery, () => ({ ...seen }));
  setHandler(changedSignal, () => looks.news());
  for (;;) {
    const answer = await step(input, seen, looks);
    if (answer) learn(seen, answer);
    show(seen);
    if (answer?.kind === 'rest' && looks.upToDate()) return { note: seen.note };
    // The new run reads the rows first: nothing has to be handed over to it.
    if (workflowInfo().continueAsNewSuggested) return await continueAsNew<typeof settlement>(input);
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

function learn(seen: Seen, answer: SettlementResult): void {
  const state = answer.kind === 'went' ? answer.state : seen.state;
  if (state !== seen.state) showStage(state, new Date().toISOString());
  else if (seen.needsOperator) showNeedsOperator(false);
  seen.needsOperator = false;
  seen.state = state;
  seen.note = answer.note;
}

function show({ state, note }: Seen): void {
  setCurrentDetails(state === '' ? note : `**${state}**\n\n${note}`);
}
