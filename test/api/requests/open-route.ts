import { z } from 'zod';
import { ok, type Route, route } from '../../../src/api/route.ts';
import type { Deps } from '../../../src/services/deps.ts';

/** A route for everybody that answers with what `read` returns. */
export function openRoute(
  path: string,
  read: (deps: Deps) => Promise<Record<string, unknown>>,
  more: Partial<Pick<Route, 'response' | 'extraMs'>> = {},
): Route {
  const shape = { method: 'get', auth: 'none', scope: 'none', tag: 'Test', summary: 'Test' } as const;
  const made = route({
    ...shape,
    path,
    operationId: path.slice(1),
    statuses: [200],
    response: z.looseObject({}),
    read: async (deps) => ok(await read(deps)),
  });
  return { ...made, ...more };
}
