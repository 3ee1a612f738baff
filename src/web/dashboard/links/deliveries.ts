import { getPaymentLink } from '../../../services/payment-links/index.ts';
import { deliveriesScreen } from '../endpoints/deliveries.ts';
import type { ReadPage } from '../visit.ts';

/** What was sent to the own webhook address of a link. */
export const LINK_DELIVERIES_PAGE: ReadPage = {
  path: '/links/:id/deliveries',
  show: async (visit) => {
    const { deps, scope, params } = visit;
    const { id, webhook_url: url } = await getPaymentLink(deps, { ...scope, id: params['id'] ?? '' });
    if (url === null) throw visit.door.refusal('NOT_FOUND');
    return await deliveriesScreen(visit, { id, url, of: 'links', label: 'The link' });
  },
};
