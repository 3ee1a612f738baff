import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../../activities/index.ts';
import type { DepositActorInput } from '../../../src/domain/actor-message.ts';

// A deposit actor as somebody might break it: it asks for the deposit's next step before it delivers, under
// another activity id. The replay of the stored histories must refuse it.
const { advanceDeposit, deliverWebhook } = proxyActivities<Activities>({ startToCloseTimeout: 20_000 });

/** The altered actor; its name is the real one's. */
export async function deposit(input: DepositActorInput): Promise<{ state: string }> {
  let state = input.state;
  while (!input.rests && (state === 'detected' || state === 'confirming')) {
    const { depositId, generation, sequence } = input;
    state = (await advanceDeposit({ depositId, generation, sequence, alarmed: false })).state;
  }
  for (const deliveryId of input.deliveries) await deliverWebhook({ deliveryId });
  return { state };
}
