import { expect } from 'chai';
import { eraseCustomer } from '../../../src/services/merchants/erasure.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

/** What a copy of the database says of the page of a customer: nothing that opens it. */
describe('the token of a customer’s page in the database', function () {
  this.timeout(60_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());

  const page = async (id: string, method: 'GET' | 'POST' = 'GET') => {
    const headers = { 'Idempotency-Key': `page-of-${id}` };
    const answer = await call(`${api.url}/customers/${id}/address-page`, {
      method,
      key: api.keys.live,
      headers,
    });
    return answer.body['token'] as string;
  };
  const opens = async (token: string) => (await call(`${api.origin}/address/${token}`)).status === 200;
  /** The tables with a row that holds the text, as text or as the bytes of it. */
  const tablesWith = async (text: string) => {
    const em = api.deps.orm.em.fork();
    const tables = await em.execute<{ name: string }[]>(
      `select table_name as name from information_schema.tables where table_schema = 'public'`,
    );
    const found = [];
    for (const { name } of tables) {
      const [row] = await em.execute<{ n: number }[]>(
        `select count(*)::int as n from "${name}" t
          where strpos(row_to_json(t)::text, ?) + strpos(row_to_json(t)::text, ?) > 0`,
        [text, Buffer.from(text).toString('hex')],
      );
      if (row?.n !== 0) found.push(name);
    }
    return found;
  };

  it('lies in no row of any table as it is, opens the page, and opens nothing after another one', async () => {
    const body = { external_id: 'user-1' };
    const made = await call(`${api.url}/customers`, {
      key: api.keys.live,
      headers: { 'Idempotency-Key': 'customer' },
      body,
    });
    const id = made.body['id'] as string;
    expect(await tablesWith('user-1'))
      .to.include('customers')
      .and.include('events');
    const first = await page(id);
    const second = await page(id, 'POST');
    expect(await page(id)).to.equal(second);
    expect([await opens(first), await opens(second)]).to.deep.equal([false, true]);
    for (const token of [first, second]) expect(await tablesWith(token)).to.deep.equal([]);
    const kept = () =>
      api.deps.orm.em
        .fork()
        .execute<{ hash: string; sealed: Buffer }[]>(
          'select page_token_hash as hash, page_token_sealed as sealed from customers',
        );
    const [row] = await kept();
    if (!row) throw new Error('no customer');
    expect(api.deps.secretBox.open(row.sealed, id)).to.equal(second);
    expect(await opens(row.hash)).to.equal(false);
    await eraseCustomer(api.deps, { customerId: id, reason: 'asked for it' });
    expect(await kept()).to.deep.equal([{ hash: null, sealed: null }]);
  });
});
