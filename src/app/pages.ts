import type { Middleware } from 'koa';
import type { ListDoor } from '../api/requests/lists.ts';
import type { Guards } from '../api/requests/rate-limits.ts';
import type { WaitingLine } from '../base/async/waiting-line.ts';
import type { Deps } from '../services/deps.ts';
import type { AskedChains } from '../services/merchants/withdraw-addresses.ts';
import { addressPages } from '../web/address.ts';
import { assetFiles } from '../web/assets/assets.ts';
import { dashboardPages } from '../web/dashboard/index.ts';
import type { StreamLimits } from '../web/live/places.ts';
import { type PayOptions, payPages } from '../web/pay.ts';
import { sdkFiles } from '../web/sdk/files.ts';
import { dashboardDoor } from './dashboard-door.ts';
import { payOptions } from './pay-options.ts';

/** What the pages share with the API of the same process. */
export type Shared = {
  readonly guards: Guards;
  readonly lists: ListDoor;
  readonly publicUrl: string | undefined;
  readonly passwordLine: WaitingLine;
  readonly chains: AskedChains;
  /** Aborted when the process shuts down: streams end at once then. */
  readonly signal: AbortSignal;
  /** What the pages for payers are given otherwise: for tests. */
  readonly pay?: (Partial<PayOptions> & { readonly limits?: Partial<StreamLimits> }) | undefined;
};

/** Beside the API: the SDK for shops, the pages that payers see, and the merchant's dashboard. */
export function pagesFor(deps: Deps, shared: Shared): Middleware[] {
  const { limits, ...pay } = shared.pay ?? {};
  const options = { ...payOptions(shared.guards, { ...shared, limits }), ...pay };
  return [
    assetFiles(),
    sdkFiles(shared.publicUrl),
    payPages(deps, options),
    addressPages(deps, options),
    dashboardPages(deps, dashboardDoor(deps, shared)),
  ];
}
