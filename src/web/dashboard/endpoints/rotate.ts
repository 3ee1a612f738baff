import { updateEndpoint } from '../../../services/webhooks/endpoints.ts';
import { askScreen } from '../ask.ts';
import { untouched } from '../forms.ts';
import { guardedWhenLive } from '../settings/guarded.ts';
import type { ReadPage, Typed, Visit } from '../visit.ts';
import { endpointOf } from './change.ts';

const PATH = '/endpoints/:id/rotate';

/** Says what becomes of the old secret before there is a new one. */
export const ROTATE_SECRET_PAGE: ReadPage = {
  path: PATH,
  show: async (visit) => await screen(visit, untouched(visit)),
};

/** Makes a new secret, and shows it this once. */
export const ROTATE_SECRET_FORMS = guardedWhenLive({
  path: PATH,
  fields: () => ({ input: undefined }),
  apply: async (tx, deps, { visit: { scope, params, to } }) => {
    const change = { ...scope, id: params['id'] ?? '', rotateSecret: true };
    const { id, secret } = await updateEndpoint(tx, deps, change);
    if (secret === undefined) throw new Error('a rotation made no secret');
    return {
      to: to(`/endpoints/${id}`),
      secrets: {
        title: 'The endpoint has a new secret',
        text: 'The old one signs beside it for 24 hours. Give your server the new one within that time.',
        items: [{ label: 'Signing secret', value: secret }],
      },
    };
  },
  again: screen,
});

async function screen(visit: Visit, typed: Typed) {
  const { id } = await endpointOf(visit);
  return askScreen(visit, typed, {
    title: 'Make a new secret?',
    text: 'It is shown once, right afterwards. Every message is signed with both secrets for 24 hours, so nothing is lost while your server changes over. Then the old one ends.',
    label: 'Make a new secret',
    path: `/endpoints/${id}/rotate`,
    guarded: visit.mode === 'live',
    back: { path: `/endpoints/${id}`, label: 'The endpoint' },
  });
}
