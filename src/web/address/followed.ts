import { changedAddressPages, getAddressPages } from '../../services/address-pages/public.ts';
import { PAGE_TOKEN } from '../../services/address-pages/token.ts';
import type { AddressPageView } from '../../services/address-pages/view.ts';
import type { Deps } from '../../services/deps.ts';
import { pickedWay } from '../checkout/ways.ts';
import type { Followed } from '../live/followed.ts';

/** The addresses of customers, as these follow them: for ever, because money may always come. */
export function followedAddresses(deps: Deps): Followed<AddressPageView> {
  return {
    what: 'address page',
    token: PAGE_TOKEN,
    read: (tokens) => getAddressPages(deps, tokens),
    changed: (versions) => changedAddressPages(deps, versions),
    isLive: () => true,
    isOver: () => false,
    codes: ({ methods }, network) => {
      const way = pickedWay(methods, network);
      return way ? [way.address] : [];
    },
  };
}
