import type { ActorPort } from '../../src/services/deps.ts';
import { type Answer, call, type TestApi } from './gateway.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

/**
 * A POST with an Idempotency-Key, as a merchant's program sends it; a body that is text is sent as it stands.
 */
export const post = (
  api: TestApi,
  path: string,
  once: string,
  body?: unknown,
  key: string = api.keys.test,
): Promise<Answer> =>
  call(api.url + path, {
    method: 'POST',
    key,
    headers: { 'Idempotency-Key': once, ...(typeof body === 'string' ? JSON_TYPE : {}) },
    ...(body === undefined ? {} : { body }),
  });

/** Rows of a query on the API's database. */
export const rows = async (
  api: TestApi,
  sql: string,
  params: unknown[] = [],
): Promise<Record<string, unknown>[]> =>
  await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, params);

/** How many rows a table has. */
export const count = async (api: TestApi, table: string): Promise<number> =>
  Number((await rows(api, `select count(*)::int as n from ${table}`))[0]?.['n']);

/** `201`, `201 again` for a replay, or `409 CODE`: enough to tell answers apart. */
export const kind = ({ status, body, headers }: Answer): string =>
  `${status}${headers.get('idempotency-replayed') === 'true' ? ' again' : ''}${body['code'] === undefined ? '' : ` ${body['code']}`}`;

/** Actors that do nothing: the workflow ids of those that are started go into the list. */
export const actorsInto = (started: string[]): ActorPort => ({
  start: async (workflowId) => void started.push(workflowId),
  wake: async () => undefined,
  running: async () => new Set<string>(),
  isUnresponsive: async () => false,
});
