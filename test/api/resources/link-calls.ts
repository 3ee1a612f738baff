import { expect } from 'chai';
import { type Answer, call, type TestApi } from '../../support/gateway.ts';

/** A resource of an answer. */
export type Row = Record<string, ReturnType<typeof JSON.parse>>;

/** Calls about payment links, by a key of test mode unless another is named. The API may start later. */
export function linkCallsOf(api: () => TestApi) {
  const testKey = () => api().keys.test;
  return {
    make: async (more: object = {}, by = testKey()): Promise<Row> => {
      const answer = await call(`${api().url}/request-payment`, {
        key: by,
        body: { email: 'payer@example.com', amount_usd: 25, ...more },
      });
      expect(answer.status, answer.text).to.equal(201);
      return answer.body;
    },
    read: (id: string, by = testKey()) => call(`${api().url}/payment-links/${id}`, { key: by }),
    list: (query = '', by = testKey()) => call(`${api().url}/payment-links?${query}`, { key: by }),
    /** Of the resources of a list, in its order. */
    ids: ({ body }: Answer) => body['data'].map(({ id }: Row) => id),
    /** As everybody may who holds the token. */
    look: (token: string) => call(`${api().url}/payments/${token}`),
    cancel: (id: string, by = testKey()) =>
      call(`${api().url}/payment-links/${id}/cancel`, { key: by, method: 'POST' }),
  };
}
