import { updateEndpoint } from '../../../services/webhooks/endpoints.ts';
import { askScreen } from '../ask.ts';
import { guardedWhenLive } from '../settings/guarded.ts';
import { endpointOf } from './change.ts';

/** Lets an endpoint get events again, and forgets why it got none. */
export const ENABLE_ENDPOINT_FORMS = switchForm(true);

/** Stops what is sent to an endpoint; what happens is kept, to be sent later. */
export const DISABLE_ENDPOINT_FORMS = switchForm(false);

function switchForm(enabled: boolean) {
  const [verb, label] = enabled ? (['enable', 'Enable'] as const) : (['disable', 'Disable'] as const);
  return guardedWhenLive({
    path: `/endpoints/:id/${verb}`,
    fields: () => ({ input: undefined }),
    apply: async (tx, deps, { visit: { scope, params, to } }) => {
      const { id } = await updateEndpoint(tx, deps, { ...scope, id: params['id'] ?? '', enabled });
      return { to: to(`/endpoints/${id}`) };
    },
    again: async (visit, typed) => {
      const { id } = await endpointOf(visit);
      return askScreen(visit, typed, {
        title: `${label} the endpoint`,
        text: enabled
          ? 'Events are sent to it again. What failed before can be sent again from its page.'
          : 'Nothing is sent to it until it is enabled again. What happens meanwhile is kept as failed deliveries.',
        label,
        path: `/endpoints/${id}/${verb}`,
        guarded: visit.mode === 'live',
        back: { path: `/endpoints/${id}`, label: 'The endpoint' },
      });
    },
  });
}
