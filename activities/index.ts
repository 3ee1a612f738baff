import type { DeliverDeps } from '../src/services/deliveries/deliver.ts';
import { type ChainDeps, chainActivities } from './chain.ts';
import { depositActivities } from './deposits.ts';
import { paymentActivities } from './payments.ts';
import { webhookActivities } from './webhooks.ts';

export type ActivityDeps = ChainDeps & DeliverDeps;

/** Every activity by its capability. Workflows know these by type only. */
export function createActivities(deps: ActivityDeps) {
  return { ...depositActivities(deps), ...paymentActivities(deps), ...webhookActivities(deps), ...chainActivities(deps) };
}

export type Activities = ReturnType<typeof createActivities>;
