import { deleteEndpoint } from '../../../services/webhooks/endpoints.ts';
import { foreign, html } from '../../html.ts';
import { askScreen } from '../ask.ts';
import { untouched } from '../forms.ts';
import { guardedWhenLive } from '../settings/guarded.ts';
import type { ReadPage, Typed, Visit } from '../visit.ts';
import { endpointOf } from './change.ts';

const PATH = '/endpoints/:id/delete';

/** Asks before an endpoint is deleted. */
export const DELETE_ENDPOINT_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Takes an endpoint out of use for good. */
export const DELETE_ENDPOINT_FORMS = guardedWhenLive({
  path: PATH,
  fields: () => ({ input: undefined }),
  apply: async (tx, deps, { visit: { scope, params, to } }) => {
    await deleteEndpoint(tx, deps, { ...scope, id: params['id'] ?? '' });
    return { to: to('/endpoints') };
  },
  again: screen,
});

async function screen(visit: Visit, typed: Typed) {
  const { id, url } = await endpointOf(visit);
  return askScreen(visit, typed, {
    title: 'Delete this endpoint?',
    text: html`Nothing is sent to ${foreign(url)} any more, also what is on its way and what failed. Its secret ends at once. This cannot be taken back. Events stay, and other endpoints get theirs.`,
    label: 'Delete the endpoint',
    danger: true,
    path: `/endpoints/${id}/delete`,
    guarded: visit.mode === 'live',
    back: { path: `/endpoints/${id}`, label: 'The endpoint' },
  });
}
