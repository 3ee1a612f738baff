import {
  CancellationScope,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  proxyActivities,
  setCurrentDetails,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { PaymentLinkActorInput } from '../src/domain/actor-message.ts';
import { isUuid, ROW_CHANGED } from '../src/domain/ids.ts';
import { showStage } from './attributes.ts';
import { openDeliveries } from './deliveries.ts';
import { asText, paragraphs } from './details.ts';
import { refuseInput } from './input.ts';
import { type Looks, openLooks } from './looks.ts';
import { type LinkResult, linkResult } from './results.ts';
import { ADVANCE_START_TO_CLOSE_MS, CRASH_RETRY, ROW_CHANGED_MEANS } from './timeouts.ts';

export type PaymentLinkView = { readonly status: string; readonly note: string; readonly webhooks: string };

/** Says that the link's row has changed. It carries nothing: the row does. */
export const changedSignal = defineSignal(ROW_CHANGED);
/** What the actor knows, for operators; merchants ask the API. */
export const paymentViewQuery = defineQuery<PaymentLinkView>('view');

/**
 * One payment link until it is closed and its webhooks are finished. The transactions that change
 * the link's deposits also change the link; the actor delivers what they ask for and closes the link
 * when its time is over. It sleeps on a timer and on the signal that every change sends, reads the
 * row whenever it wakes, and ends only when nobody has said that the row changed since it read it.
 */
export async function paymentLink(input: PaymentLinkActorInput): Promise<{ status: string }> {
  if (!isUuid(String(input?.linkId))) throw refuseInput('linkId');
  return await CancellationScope.nonCancellable(() => run(input));
}

/** What the actor knows. */
type Seen = { status: string; note: string };

async function run(input: PaymentLinkActorInput): Promise<{ status: string }> {
  const deliveries = openDeliveries('payment webhook');
  const looks = openLooks();
  const seen: Seen = { status: '', note: '' };
  const view = () => ({ status: seen.status, note: seen.note, webhooks: deliveries.summary() });
  setHandler(paymentViewQuery, view, {
    description: 'What the actor knows of its payment link: status, what it waits for, and its webhooks.',
  });
  setHandler(changedSignal, () => looks.news(), { description: ROW_CHANGED_MEANS });
  for (;;) {
    const ended = deliveries.ended();
    const answer = await look(input, seen, looks);
    if (answer) {
      deliveries.name(answer.names);
      deliveries.start(answer.deliveries, ended);
      if (answer.status !== seen.status) showStage(answer.status, answer.since);
      seen.status = answer.status;
      seen.note = answer.note;
      setCurrentDetails(paragraphs(`**${seen.status}**`, asText(seen.note)));
    }
    if (workflowInfo().continueAsNewSuggested) {
      // The new run reads the row first, and takes over every delivery that is not finished.
      return await continueAsNew<typeof paymentLink>(input);
    }
    if (!answer) continue;
    if (answer.waitMs !== null) {
      await condition(() => !looks.upToDate(), answer.waitMs);
      continue;
    }
    await condition(() => !looks.upToDate() || deliveries.settled());
    if (looks.upToDate()) break;
  }
  setCurrentDetails(paragraphs(`**${seen.status}**`, asText(`${seen.note}; ${deliveries.summary()}`)));
  return { status: seen.status };
}

/**
 * What the row says; undefined when a signal came while the look waited: then the row is read again at once.
 */
async function look(input: PaymentLinkActorInput, seen: Seen, looks: Looks): Promise<LinkResult | undefined> {
  const { advancePaymentLink } = proxyActivities<Activities>({
    startToCloseTimeout: ADVANCE_START_TO_CLOSE_MS,
    retry: CRASH_RETRY,
    activityId: 'advance',
    cancellationType: 'WAIT_CANCELLATION_COMPLETED',
    summary: seen.status === '' ? 'look' : `${seen.status} →`,
  });
  return await looks.look(() => advancePaymentLink({ linkId: input.linkId }), linkResult);
}
