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

    it('shows each row once while others arrive', async () => {
      const merchant = await api.newMerchant();
      const own = new Set<string>();
      for (let n = 0; n < 12; n += 1)
        own.add((await create({ external_id: `w-${n}` }, merchant.keys.test)).body['id']);
      const seen: string[] = [];
      let query = 'limit=3';
      for (let n = 0; n < 10; n += 1) {
        const page = await list(query, merchant.keys.test);
        seen.push(...ids(page));
        await create({ external_id: `late-${n}` }, merchant.keys.test);
        if (!page.body['has_more']) break;
        query = `limit=3&starting_after=${seen.at(-1)}`;
      }
      expect(seen).to.have.length(12);
      expect(new Set(seen)).to.deep.equal(own);
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

    const bad = [
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=1.5',
      'limit=1e1',
      'limit=',
      'limit=abc',
      'limit=10&limit=20',
      'limit=99999999999999999999',
      'page=0',
      'page=-1',
      'page=x',
      'page=1000001',
      'page=1&starting_after=00000000-0000-4000-8000-000000000000',
      'starting_after=x',
      'starting_after=',
      'ending_before=00000000-0000-4000-8000-000000000000',
      'starting_after=00000000-0000-4000-8000-000000000000',
      'email=',
      'external_id=%20',
      'search=',
      'address=0x1',
      `address=${'1'.repeat(34)}`,
      'search=%00',
      `search=${'x'.repeat(321)}`,
      'created_from=yesterday',
      'created_from=2026-13-01T00:00:00Z',
      'created_from=0000-01-01T00:00:00Z',
      'created_to=2026-01-01',
      'created_to=1e999',
    ];
    for (const query of bad) {
      it(`answers 400 for ?${query.slice(0, 60)}`, async () => {
        const answer = await list(query, key);
        expect([answer.status, answer.body['code']], answer.text).to.deep.equal([400, 'VALIDATION_ERROR']);
      });
    }

    it("answers 400 for a cursor of another merchant's or mode's row", async () => {
      const foreign = (await create({ external_id: 'foreign' }, api.keys.live)).body['id'];
      const otherMode = (await create({ external_id: 'other-mode' }, api.keys.test)).body['id'];
      for (const id of [foreign, otherMode])
        expect((await list(`starting_after=${id}`, key)).status).to.equal(400);
    });
  });
});
