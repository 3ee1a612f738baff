import { type ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import { paced } from '../src/services/deps.ts';
import { type DeliverDeps, deliverWebhook as deliver } from '../src/services/webhooks/deliver.ts';
import { failure, shortMessage } from './faults.ts';

const OWN_FAULT_MIN_MS = 1_000;
const OWN_FAULT_SPREAD_MS = 4_000;

/**
 * The one activity behind every webhook. Temporal retries
 * it without a limit; the attempts that count are rows.
 */
export function webhookActivities(deps: DeliverDeps) {
  return {
    async deliverWebhook(input: { deliveryId: string }): Promise<{ status: string; message: string }> {
      let result: Awaited<ReturnType<typeof deliver>>;
      try {
        result = await deliver(deps, input);
      } catch (error) {
        // Our own fault: the rows know whether an attempt was
        // used. It is retried soon, and for as long as it takes.
        deps.log.warn({ err: error, deliveryId: input.deliveryId }, 'a delivery met a fault of our own');
        throw benign(
          `not sent or not recorded yet: ${shortMessage(error)}`,
          paced(deps, OWN_FAULT_MIN_MS + (hash(input.deliveryId) % OWN_FAULT_SPREAD_MS)),
        );
      }
      if (result.kind === 'done') {
        if (result.status === 'succeeded') return { status: result.status, message: result.message };
        throw failure({ message: result.message, type: 'DeliveryFailed', nonRetryable: true });
      }
      throw benign(result.message, result.delayMs);
    },
  };
}

function benign(message: string, nextRetryDelay: number): ApplicationFailure {
  return failure({
    message,
    type: 'DeliveryWaits',
    nextRetryDelay,
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** A steady spread without randomness: the same delivery always gets the same share of the pause. */
function hash(text: string): number {
  let value = 7;
  for (let index = 0; index < text.length; index += 1)
    value = (value * 31 + text.charCodeAt(index)) % 1_000_003;
  return value;
}
