import { expect } from 'chai';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { linkCallsOf } from './link-calls.ts';

describe('payment links, read and cancelled', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const { make, read, list, ids, look, cancel } = linkCallsOf(() => api);

  describe('POST /payment-links/:id/cancel', () => {
    it('ends the link for good, and says the same when it is called again', async () => {
      const { id, token } = await make();
      const first = await cancel(id);
      expect([first.status, first.body['status']]).to.deep.equal([200, 'cancelled']);
      const again = await Promise.all(Array.from({ length: 5 }, () => cancel(id)));
      for (const answer of again) expect([answer.status, answer.body]).to.deep.equal([200, first.body]);
      expect((await read(id)).body).to.deep.equal(first.body);
      expect((await look(token)).body).to.deep.include({ status: 'cancelled', methods: [] });
    });

    it('answers 404 for the link of another merchant, of the other mode, and for none', async () => {
      const { id } = await make();
      const other = await api.newMerchant();
      const answers = await Promise.all([
        cancel(id, other.keys.test),
        cancel(id, api.keys.live),
        cancel(UNKNOWN_ID),
        cancel('x'),
      ]);
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
      expect((await read(id)).body['status']).to.equal('pending');
    });
  });

  describe('reading', () => {
    it('hides the links of other merchants and of the other mode', async () => {
      const { id } = await make();
      const other = await api.newMerchant();
      const answers = await Promise.all([
        read(id, other.keys.test),
        read(id, api.keys.live),
        read(UNKNOWN_ID),
        read('x'),
      ]);
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
      for (const by of [other.keys.test, api.keys.live]) expect(ids(await list('', by))).to.deep.equal([]);
    });

    it('lists the newest first, in pages that cursors walk without a gap', async () => {
      const other = await api.newMerchant();
      const by = other.keys.test;
      const made: string[] = [];
      for (let index = 0; index < 5; index += 1) made.unshift((await make({}, by))['id']);
      const first = await list('limit=2', by);
      expect(ids(first)).to.deep.equal(made.slice(0, 2));
      expect(first.body).to.deep.include({
        has_more: true,
        pagination: { page: 1, limit: 2, total: 5, total_pages: 3 },
      });
      expect(ids(await list('limit=2&page=3', by))).to.deep.equal(made.slice(4));
      await make({}, by);
      expect(ids(await list(`limit=2&starting_after=${made[1]}`, by))).to.deep.equal(made.slice(2, 4));
      expect(ids(await list(`limit=2&ending_before=${made[2]}`, by))).to.deep.equal(made.slice(0, 2));
      const foreign = (await make())['id'];
      for (const query of [
        `starting_after=${foreign}`,
        'starting_after=x',
        'limit=0',
        'limit=101',
        'page=0',
        `page=1&ending_before=${made[0]}`,
      ])
        expect((await list(query, by)).status, query).to.equal(400);
    });

    it('filters by status, customer, text and time, and refuses a filter that cannot be', async () => {
      const other = await api.newMerchant();
      const by = other.keys.test;
      const plain = await make(
        { email: 'plain@example.com', description: '100% cotton', external_id: 'order_17' },
        by,
      );
      const gone = await make({ email: 'Gone@example.com' }, by);
      await cancel(gone['id'], by);
      const found = async (query: string) => ids(await list(query, by));
      expect(await found('status=cancelled')).to.deep.equal([gone['id']]);
      expect(await found('status=pending')).to.deep.equal([plain['id']]);
      expect(await found(`customer_id=${gone['customer_id']}`)).to.deep.equal([gone['id']]);
      expect(await found(`customer_id=${UNKNOWN_ID}`)).to.deep.equal([]);
      for (const text of ['100%25%20COTTON', 'ORDER_17', 'plain@', plain['token'].slice(3, 20)])
        expect(await found(`search=${text}`), text).to.deep.equal([plain['id']]);
      expect(await found('search=100%25cotton')).to.deep.equal([]);
      expect(await found(`created_from=${plain['created_at']}`)).to.have.length(2);
      expect(await found('created_to=2020-01-01T00:00:00Z')).to.deep.equal([]);
      for (const query of [
        'status=open',
        'customer_id=x',
        'search=',
        'created_from=yesterday',
        'status=pending&status=cancelled',
      ])
        expect((await list(query, by)).status, query).to.equal(400);
    });
  });

  describe('GET /payments', () => {
    it('is for people who are signed in: a key gets 403', async () => {
      for (const by of [api.keys.live, api.keys.test]) {
        const { status, body } = await call(`${api.url}/payments`, { key: by });
        expect([status, body['code']]).to.deep.equal([403, 'SESSION_REQUIRED']);
      }
      expect((await call(`${api.url}/payments`)).status).to.equal(401);
    });

    it('lists to a session what a key sees at /payment-links, in the mode that it asks for', async () => {
      const cookie = await signIn(api, await newUser(api));
      const live = await make({}, api.keys.live);
      const seen = await call(`${api.url}/payments`, { headers: { Cookie: cookie } });
      expect([seen.status, ids(seen)]).to.deep.equal([200, [live['id']]]);
      const test = await call(`${api.url}/payments?limit=3`, {
        headers: { Cookie: cookie, 'X-Mode': 'test' },
      });
      expect(test.body).to.deep.equal((await list('limit=3')).body);
      const made = await call(`${api.url}/request-payment`, {
        headers: { Cookie: cookie, 'X-Mode': 'test' },
        body: { email: 'session@example.com', amount_usd: 5 },
      });
      expect([made.status, made.body['is_live']]).to.deep.equal([201, false]);
    });
  });
});
