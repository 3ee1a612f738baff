import { call, type TestApi } from '../../support/gateway.ts';

/** Calls about webhook endpoints, by a key of test mode unless another is named. The API may start later. */
export function endpointCallsOf(api: () => TestApi) {
  const testKey = () => api().keys.test;
  const at = (id: string) => `${api().url}/webhook-endpoints/${id}`;
  return {
    create: (body: unknown, by = testKey()) => call(`${api().url}/webhook-endpoints`, { key: by, body }),
    put: (id: string, body: unknown, by = testKey()) => call(at(id), { key: by, method: 'PUT', body }),
    read: (id: string, by = testKey()) => call(at(id), { key: by }),
    remove: (id: string, by = testKey()) => call(at(id), { key: by, method: 'DELETE' }),
    /** A statement on the API's database. */
    sql: async (text: string, values: unknown[] = []) =>
      await api().deps.orm.em.fork().execute<Record<string, unknown>[]>(text, values),
  };
}
