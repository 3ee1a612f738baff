import { cancelPaymentLink, getPaymentLink } from '../../../services/payment-links/index.ts';
import { askScreen } from '../ask.ts';
import { untouched } from '../forms.ts';
import { form, type ReadPage, type Typed, type Visit } from '../visit.ts';

const PATH = '/links/:id/cancel';

/** Asks before a link is cancelled. */
export const CANCEL_LINK_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Closes a link that is open. */
export const CANCEL_LINK_FORM = form({
  path: PATH,
  fields: () => ({ input: undefined }),
  apply: async (tx, deps, { visit: { scope, params, to } }) => {
    const { id } = await cancelPaymentLink(tx, deps, { ...scope, id: params['id'] ?? '' });
    return { to: to(`/links/${id}`) };
  },
  again: screen,
});

async function screen(visit: Visit, typed: Typed) {
  const { deps, scope, params } = visit;
  const { id } = await getPaymentLink(deps, { ...scope, id: params['id'] ?? '' });
  return askScreen(visit, typed, {
    title: 'Cancel this payment link?',
    text: 'It cannot be opened again. Money that arrives afterwards is a deposit of the customer and does not pay the link; what was paid in part stays yours.',
    label: 'Cancel the link',
    danger: true,
    path: `/links/${id}/cancel`,
    back: { path: `/links/${id}`, label: 'The link' },
  });
}
