import type { Middleware } from 'koa';
import type { Deps } from '../services/deps.ts';
import { scriptOf } from './assets/assets.ts';
import { followedLinks } from './checkout/followed.ts';
import { payerPages } from './checkout/index.ts';
import { simulatedLinks, simulationKey } from './checkout/simulated.ts';
import { type DoorOptions, payerDoor } from './payer-door.ts';
import type { PayerPages } from './visitor.ts';

export type PayOptions = DoorOptions & {
  /** Other pages than the product's own: for tests of what is around them. */
  readonly pages?: PayerPages;
};

/** The page of a payment link at `/pay/:token`. */
export function payPages(deps: Deps, options: PayOptions): Middleware {
  const parts = { page: scriptOf('page'), live: scriptOf('live'), simulationKey };
  const pages = options.pages ?? payerPages(deps.settings.requiredConfirmations, parts);
  const kind = {
    prefix: '/pay',
    followed: followedLinks(deps),
    pages,
    simulated: simulatedLinks(deps),
  } as const;
  return payerDoor(deps, kind, options);
}
