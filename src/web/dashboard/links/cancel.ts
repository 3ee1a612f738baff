import { isOpenLink } from '../../../domain/payment-link.ts';
import { cancelPaymentLink, getPaymentLink } from '../../../services/payment-links/index.ts';
import { html } from '../../html.ts';
import { emptyState } from '../../parts/empty.ts';
import { askScreen } from '../ask.ts';
import { untouched } from '../forms.ts';
import { crumb, heading } from '../heading.ts';
import { form, type ReadPage, type Screen, type Typed, type Visit } from '../visit.ts';
import { standOf } from './words.ts';

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

async function screen(visit: Visit, typed: Typed): Promise<Screen> {
  const { deps, scope, params } = visit;
  const link = await getPaymentLink(deps, { ...scope, id: params['id'] ?? '' });
  const { id } = link;
  if (!isOpenLink(link.status)) {
    const [title, way] = ['This payment link has ended', visit.to(`/links/${id}`)];
    const { title: so, text } = standOf(link, deps.now());
    const said = emptyState(so, `${text} There is nothing to cancel.`, {
      href: way,
      label: 'Look at the link',
    });
    return { title, body: html`${crumb(way, 'The link')}${heading(title)}${said}` };
  }
  return askScreen(visit, typed, {
    title: 'Cancel this payment link?',
    text: 'It cannot be opened again. Money that arrives afterwards is a deposit of the customer and does not pay the link; what was paid in part stays yours.',
    label: 'Cancel the link',
    danger: true,
    path: `/links/${id}/cancel`,
    back: { path: `/links/${id}`, label: 'The link' },
  });
}
