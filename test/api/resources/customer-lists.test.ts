import { expect } from 'chai';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';

describe('lists of customers over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const create = (body: unknown, key = api.keys.test) => call(`${api.url}/customers`, { key, body });
  const list = (query: string, key = api.keys.test) => call(`${api.url}/customers?${query}`, { key });

  describe('GET /customers', () => {
    let key: string;
    const made: string[] = [];
    before(async () => {
      const merchant = await api.newMerchant();
      key = merchant.keys.live;
      for (let n = 0; n < 7; n += 1)
        made.unshift(
          (await create({ external_id: `l-${n}`, email: `l${n}@example.com`, name: `Nr_${n}` }, key)).body[
            'id'
          ],
        );
    });
    const ids = (answer: Answer) => answer.body['data'].map((row: { id: string }) => row.id);

    it('gives pages, newest first, with the numbers of the whole', async () => {
      const first = await list('limit=3', key);
      expect(ids(first)).to.deep.equal(made.slice(0, 3));
      expect(first.body['has_more']).to.equal(true);
      expect(first.body['pagination']).to.deep.equal({ page: 1, limit: 3, total: 7, total_pages: 3 });
      const last = await list('limit=3&page=3', key);
      expect([ids(last), last.body['has_more']]).to.deep.equal([made.slice(6), false]);
      expect((await list('page=9', key)).body).to.deep.include({ data: [], has_more: false });
      expect((await list('', key)).body['pagination']).to.deep.equal({
        page: 1,
        limit: 25,
        total: 7,
        total_pages: 1,
      });
    });

    it('walks with cursors in both directions', async () => {
      const after = await list(`limit=3&starting_after=${made[1]}`, key);
      expect([ids(after), after.body['has_more'], after.body['pagination'].page]).to.deep.equal([
        made.slice(2, 5),
        true,
        null,
      ]);
      const before = await list(`limit=2&ending_before=${made[4]}`, key);
      expect([ids(before), before.body['has_more']]).to.deep.equal([made.slice(2, 4), true]);
      expect((await list(`limit=5&ending_before=${made[1]}`, key)).body).to.deep.include({ has_more: false });
    });

    it('keeps the order of rows of the same moment by id', async () => {
      const now = new Date();
      const frozen = await startTestApi({ deps: { now: () => now } });
      try {
        for (let n = 0; n < 9; n += 1)
          await call(`${frozen.url}/customers`, { key: frozen.keys.test, body: { external_id: `${n}` } });
        const seen: string[] = [];
        for (let query = 'limit=2', more = true; more; query = `limit=2&starting_after=${seen.at(-1)}`) {
          const page = await call(`${frozen.url}/customers?${query}`, { key: frozen.keys.test });
          seen.push(...ids(page));
          more = page.body['has_more'];
        }
        expect(seen)
          .to.deep.equal([...new Set(seen)].sort().reverse())
          .and.have.length(9);
      } finally {
        await frozen.stop();
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
      expect(await found('created_from=9999-12-31T23:59:59Z')).to.deep.equal([]);
      // Up to its end, which is a moment of the year 10000.
      expect(await found('created_to=9999-12-31T23:59:59Z')).to.include(made[0]);
      expect(await found('search=%25')).to.deep.equal([]);
      expect(await found('unknown=1&email=l6@example.com')).to.deep.equal([made[0]]);
    });
  });
});
