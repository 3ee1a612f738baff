import { expect } from 'chai';
import { type Answer, apiOf, call } from '../../support/gateway.ts';

describe('customers, listed and looked for', () => {
  const api = apiOf();
  let customer: object;
  before(async () => {
    const names = { external_id: 'ex-1', email: 'Ex@Example.com' };
    const { body } = await call(`${api.url}/customers`, { key: api.keys.test, body: names });
    customer = { id: body['id'], ...names };
    const merchant = await api.newMerchant();
    key = merchant.keys.live;
    for (let n = 0; n < 7; n += 1) {
      const names = { external_id: `l-${n}`, email: `l${n}@example.com`, name: `Nr_${n}` };
      made.unshift((await create(names, key)).body['id']);
    }
  });

  const create = (body: unknown, key = api.keys.test) => call(`${api.url}/customers`, { key, body });
  const list = (query: string, key = api.keys.test) => call(`${api.url}/customers?${query}`, { key });

  let key: string;
  const made: string[] = [];
  const ids = (answer: Answer) => answer.body['data'].map((row: { id: string }) => row.id);

  it('gives pages, newest first, with the numbers of the whole, and walks with cursors in both directions', async () => {
    const total = { total: 7, total_pages: 3 };
    for (const [query, shown, has_more, page] of [
      ['limit=3', made.slice(0, 3), true, { page: 1, limit: 3, ...total }],
      ['limit=3&page=3', made.slice(6), false, { page: 3, limit: 3, ...total }],
      ['page=9', [], false, { page: 9, limit: 25, total: 7, total_pages: 1 }],
      [`limit=3&starting_after=${made[1]}`, made.slice(2, 5), true, { page: null, limit: 3, ...total }],
      [`limit=3&ending_before=${made[4]}`, made.slice(1, 4), true, { page: null, limit: 3, ...total }],
      [`limit=3&ending_before=${made[1]}`, made.slice(0, 1), false, { page: null, limit: 3, ...total }],
    ] as const) {
      const answer = await list(query, key);
      const told = [ids(answer), answer.body['has_more'], answer.body['pagination']];
      expect(told, query).to.deep.equal([shown, has_more, page]);
    }
  });

  it('filters by each field', async () => {
    const one = (await call(`${api.url}/customers/${made[0]}`, { key })).body;
    const [bsc, tron] = one['addresses'].map((row: { address: string }) => row.address);
    const found = async (query: string) => ids(await list(query, key));
    for (const query of [
      'external_id=l-6',
      'email=l6@example.com',
      `address=${bsc}`,
      `address=${bsc.toLowerCase()}`,
      `address=${tron}`,
      'search=L-6',
      'search=nr_6',
    ]) {
      expect(await found(query), query).to.deep.equal([made[0]]);
    }
    expect(await found(`created_from=${one['created_at']}&created_to=${one['created_at']}`)).to.include(
      made[0],
    );
    expect(await found('created_to=2001-01-01T00:00:00Z')).to.deep.equal([]);
    expect(await found('search=%25')).to.deep.equal([]);
  });

  const exists = async (query: string, key = api.keys.test) => {
    const { status, body } = await call(`${api.url}/customers/exists?${query}`, { key });
    return status === 200 ? [body['exists'], body['match'], body['customer']] : status;
  };

  it('exist by external_id first, and by email only when that is absent or blank, and that is said', async () => {
    expect(await exists('external_id=ex-1&email=none')).to.deep.equal([true, 'external_id', customer]);
    const missed = await exists('external_id=none&email=Ex@Example.com');
    expect(missed).to.deep.equal([false, 'external_id', null]);
    for (const blank of ['', 'external_id=%20%20&'])
      expect(await exists(`${blank}email=Ex@Example.com`)).to.deep.equal([true, 'email', customer]);
    expect(await exists('external_id=&email='), 'neither').to.equal(400);
    for (const path of ['customers/exists', 'customers', 'deposits']) {
      const lost = await call(`${api.url}/${path}?email=ann+shop@example.com`, { key: api.keys.test });
      const said = 'email must be an email address: in a URL, write + as %2B.';
      expect([lost.status, lost.body['error']], path).to.deep.equal([400, said]);
    }
  });

  it('do not exist in another case, mode or for another merchant, nor by a text too long to exist', async () => {
    const other = await api.newMerchant();
    for (const [email, key] of [
      ['ex@example.com', api.keys.test],
      ['Ex@Example.com', api.keys.live],
      ['Ex@Example.com', other.keys.test],
      ['x'.repeat(2_000), api.keys.test],
    ] as const)
      expect(await exists(`email=${email}`, key)).to.deep.equal([false, 'email', null]);
  });
});
