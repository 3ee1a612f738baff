import { findAddressPage, moveAddressPage } from '../../../services/address-pages/links.ts';
import { askScreen } from '../ask.ts';
import { untouched } from '../forms.ts';
import { form, type ReadPage, type Typed, type Visit } from '../visit.ts';

const PATH = '/customers/:id/new-page';

/** Asks before the page of a customer gets another address. */
export const REPLACE_PAGE_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Gives the page of a customer another address. */
export const REPLACE_PAGE_FORM = form({
  path: PATH,
  fields: () => ({ input: undefined }),
  apply: async (tx, deps, { visit }) => {
    const { customer_id } = await moveAddressPage(tx, deps, ownerOf(visit));
    return { to: visit.to(`/customers/${customer_id}`) };
  },
  again: screen,
});

async function screen(visit: Visit, typed: Typed) {
  const owner = ownerOf(visit);
  await findAddressPage(visit.deps, owner);
  return askScreen(visit, typed, {
    title: 'Replace the address of the page?',
    text: 'For a page that somebody else got to see. There is nothing under the address before from then on, so give the customer the new one. The deposit addresses stay as they are.',
    label: 'Replace the address',
    danger: true,
    path: `/customers/${owner.id}/new-page`,
    back: { path: `/customers/${owner.id}`, label: 'The customer' },
  });
}

function ownerOf({ scope, params, door, ctx }: Visit) {
  return { ...scope, id: params['id'] ?? '', publicUrl: door.publicUrl(ctx) };
}
