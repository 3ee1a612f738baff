import { endOtherSessions, endOwnSession } from '../../../services/access/signed-in/own-sessions.ts';
import { form } from '../visit.ts';
import { accountScreen } from './overview.ts';

/** Ends every sign-in of the person but this one. */
export const END_OTHERS_FORM = form({
  path: '/account/sessions/end-others',
  withoutSubscription: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, _deps, { visit: { deps, owner, to } }) => {
    await endOtherSessions(deps, owner, { em });
    return { to: to('/account') };
  },
  again: async (visit, { problem }) => await accountScreen(visit, problem),
});

/** Ends one sign-in of the person. */
export const END_SESSION_FORM = form({
  path: '/account/sessions/:id/end',
  withoutSubscription: true,
  fields: () => ({ input: undefined }),
  apply: async ({ em }, _deps, { visit: { deps, owner, params, to } }) => {
    await endOwnSession(deps, owner, params['id'] ?? '', { em });
    return { to: to('/account') };
  },
  again: async (visit, { problem }) => await accountScreen(visit, problem),
});
