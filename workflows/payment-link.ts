import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  isCancellation,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PaymentLinkActorInput } from '../src/domain/actor-message.ts';
import { PAYMENT_CHANGED } from '../src/domain/ids.ts';
import { showStage } from './attributes.ts';
import { type Deliveries, openDeliveries } from './deliveries.ts';
import { ADVANCE_START_TO_CLOSE_MS, CRASH_RETRY } from './timeouts.ts';

export type PaymentLinkView = { readonly status: string; readonly note: string; readonly webhooks: string };

/** Says that the link's row has changed. It carries nothing: the row does. */
export const changedSignal = defineSignal(PAYMENT_CHANGED);
/** What the actor knows, for operators; merchants ask the API. */
export const paymentViewQuery = defineQuery<PaymentLinkView>('view');

/**
 * One payment link until it is closed and its webhooks are at their end. The transactions that change the link's deposits also change the
 * link; the actor delivers what they ask for and closes the link when its time is over. It sleeps on a timer and on the signal that every
 * change sends, reads the row whenever it wakes, and once more before it ends.
 */
export async function paymentLink(input: PaymentLinkActorInput): Promise<{ status: string }> {
  return await CancellationScope.nonCancellable(() => run(input));
}

type Step = Awaited<ReturnType<Activities['advancePaymentLink']>>;
/** What the actor knows; `news` counts the signals. */
type Seen = { news: number; status: string; note: string; looking: CancellationScope | undefined };

async function run(input: PaymentLinkActorInput): Promise<{ status: string }> {
  const deliveries = openDeliveries('payment webhook');
  const seen: Seen = { news: 0, status: '', note: '', looking: undefined };
  setHandler(paymentViewQuery, () => ({ status: seen.status, note: seen.note, webhooks: deliveries.summary() }));
  setHandler(changedSignal, () => {
    seen.news += 1;
    // A look that waits for the chains must not keep a delivery waiting.
    seen.looking?.cancel();
  });
  for (let turn = 1; ; turn += 1) {
    const before = seen.news;
    const step = await look(input, seen, turn);
    if (!step) continue;
    deliveries.start(step.deliveries);
    if (step.status !== seen.status) showStage(step.status, step.since);
    seen.status = step.status;
    seen.note = step.note;
    show(seen);
    if (step.waitMs !== null) {
      await condition(() => seen.news > before, step.waitMs);
    } else {
      await finish(deliveries, seen);
      if (seen.news === before) return { status: seen.status };
    }
    if (workflowInfo().continueAsNewSuggested) {
      await deliveries.settled();
      return await continueAsNew<typeof paymentLink>(input);
    }
  }
}

/** The state of the row; undefined when a signal came while it waited, so that it is read anew at once. */
async function look(input: PaymentLinkActorInput, seen: Seen, turn: number): Promise<Step | undefined> {
  const scope = new CancellationScope({ cancellable: true });
  const { advancePaymentLink } = proxyActivities<Activities>({
    startToCloseTimeout: ADVANCE_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    // Another id for each look: one that was given up may still be under way.
    activityId: `advance:${turn}`,
    cancellationType: 'TRY_CANCEL',
    summary: seen.status === '' ? 'look' : `${seen.status} →`,
  });
  seen.looking = scope;
  try {
    return await scope.run(() => advancePaymentLink(input));
  } catch (error) {
    if (isCancellation(error)) return undefined;
    throw error;
  } finally {
    seen.looking = undefined;
  }
}

async function finish(deliveries: Deliveries, seen: Seen): Promise<void> {
  await deliveries.settled();
  setCurrentDetails(`**${seen.status}**\n\n${seen.note}; ${deliveries.summary()}`);
}

function show(seen: Seen): void {
  setCurrentDetails(`**${seen.status}**\n\n${seen.note}`);
}
