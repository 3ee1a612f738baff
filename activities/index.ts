import type { Deps } from '../src/services/deps.ts';
import type { DeliverDeps } from '../src/services/webhooks/deliver.ts';
import { type ChainDeps, chainActivities } from './chain.ts';
import { depositActivities } from './deposits.ts';
import { paymentActivities } from './payments.ts';
import { settlementActivities } from './settlements.ts';
import { webhookActivities } from './webhooks.ts';

/** `orms`: the database connections of each part; without it all parts share those of `deps.orm`. */
export type ActivityDeps = ChainDeps &
  DeliverDeps & {
    readonly orms?: Readonly<Record<'watcher' | 'steps' | 'webhooks', Deps['orm']>> | undefined;
  };

/** Every activity by its capability. Workflows know these by type only. */
export function createActivities(deps: ActivityDeps) {
  const { watcher, steps, webhooks } = deps.orms ?? {
    watcher: deps.orm,
    steps: deps.orm,
    webhooks: deps.orm,
  };
  return {
    ...depositActivities({ ...deps, orm: steps }),
    ...paymentActivities({ ...deps, orm: steps }),
    ...settlementActivities({ ...deps, orm: steps }),
    ...webhookActivities({ ...deps, orm: webhooks }),
    ...chainActivities({ ...deps, orm: watcher }),
  };
}

export type Activities = ReturnType<typeof createActivities>;
