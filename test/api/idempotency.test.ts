import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type Answer, call, startTestApi, type TestApi } from '../support/gateway.ts';

/** A POST with a key, as a merchant's program sends it. */
const post = (api: TestApi, path: string, once: string, body?: unknown, key = api.keys.test): Promise<Answer> =>
  call(api.url + path, { method: 'POST', key, headers: { 'Idempotency-Key': once }, ...(body === undefined ? {} : { body }) });

const rows = async (api: TestApi, sql: string, params: unknown[] = []) =>
  await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql, params);
const count = async (api: TestApi, table: string) => Number((await rows(api, `select count(*)::int as n from ${table}`))[0]?.['n']);

describe('a POST with an Idempotency-Key', function () {
  this.timeout(30_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  it('is carried out once; a repetition gets the same bytes and a mark', async () => {
    const once = randomUUID();
    const first = await post(api, '/customers', once, { external_id: once });
    const again = await post(api, '/customers', once, { external_id: once });
    expect([first.status, again.status], first.text).to.deep.equal([201, 201]);
    expect(again.text).to.equal(first.text);
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).to.deep.equal([null, 'true']);
    expect(await count(api, 'customers')).to.equal(1);
  });
});
