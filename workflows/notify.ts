import { CancellationScope, condition, setCurrentDetails } from '@temporalio/workflow';
import type { NotifyActorInput } from '../src/domain/actor-message.ts';
import { openDeliveries } from './deliveries.ts';
import { asText } from './details.ts';
import { refuseInput } from './input.ts';
import { areIds, namesIn } from './results.ts';

/**
 * Delivers an event that no other actor carries: a new customer,
 * a resend, a test. Ends when every delivery is finished.
 */
export async function notify(input: NotifyActorInput): Promise<{ deliveries: number }> {
  if (!areIds(input?.deliveries)) throw refuseInput('deliveries');
  return await CancellationScope.nonCancellable(async () => {
    const deliveries = openDeliveries('webhook');
    deliveries.name(namesIn(input));
    deliveries.start(input.deliveries);
    await condition(deliveries.settled);
    setCurrentDetails(asText(deliveries.summary()));
    return { deliveries: input.deliveries.length };
  });
}
