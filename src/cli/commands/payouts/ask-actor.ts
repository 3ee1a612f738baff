import { settlementWorkflowId } from '../../../domain/ids.ts';
import type { SettlementPlace } from '../../../services/payouts/wakes.ts';
import { type CommandGateway, requireTemporal } from '../../process.ts';

const WITHIN_MS = 5_000;

export type Decided = { readonly by: string; readonly reason: string | null };

/**
 * Has the actor of an address look at its rows now. False where it was not heard, for whatever reason: no
 * actor runs, or nobody answers in time. The outbox tells it then.
 */
export async function askToLook(
  { temporal }: CommandGateway,
  { network, addressKey }: SettlementPlace,
  decided: Decided,
): Promise<boolean> {
  if (!temporal) return false;
  try {
    await requireTemporal(temporal);
    const { client } = temporal.link;
    const handle = client.workflow.getHandle(settlementWorkflowId(network, addressKey));
    await client.withDeadline(Date.now() + WITHIN_MS, () =>
      handle.executeUpdate('retry', { args: [decided] }),
    );
    return true;
  } catch {
    return false;
  }
}
