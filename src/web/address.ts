import type { Middleware } from 'koa';
import type { Deps } from '../services/deps.ts';
import { followedAddresses } from './address/followed.ts';
import { addressPagesOf } from './address/index.ts';
import { simulatedAddresses, simulationKey } from './address/simulated.ts';
import { scriptOf } from './assets/assets.ts';
import { type DoorOptions, payerDoor } from './payer-door.ts';

/** The page of a customer's permanent addresses at `/address/:token`. */
export function addressPages(deps: Deps, options: DoorOptions): Middleware {
  const parts = { page: scriptOf('page'), live: scriptOf('live'), simulationKey };
  const kind = {
    prefix: '/address',
    followed: followedAddresses(deps),
    pages: addressPagesOf(deps.settings.requiredConfirmations, parts),
    simulated: simulatedAddresses(deps),
  } as const;
  return payerDoor(deps, kind, options);
}
