import { sendTestEvent } from '../../../services/webhooks/resend.ts';
import { askScreen } from '../ask.ts';
import { form } from '../visit.ts';
import { endpointOf } from './change.ts';

/** Sends a test event to one endpoint, and goes on where its answer is to be seen. */
export const TEST_ENDPOINT_FORM = form({
  path: '/endpoints/:id/test',
  isTest: true,
  fields: () => ({ input: undefined }),
  apply: async (tx, deps, { visit: { scope, params, to } }) => {
    const id = params['id'] ?? '';
    await sendTestEvent(tx, deps, { ...scope, id });
    return { to: to(`/endpoints/${id}/deliveries`) };
  },
  again: async (visit, typed) => {
    const { id } = await endpointOf(visit);
    return askScreen(visit, typed, {
      title: 'Send a test event',
      text: 'It is sent like every other event, whatever the endpoint gets otherwise. It says that it is a test.',
      label: 'Send a test event',
      path: `/endpoints/${id}/test`,
      back: { path: `/endpoints/${id}`, label: 'The endpoint' },
    });
  },
});
