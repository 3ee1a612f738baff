import { expect } from 'chai';
import { type Answer, call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;
const METHOD_KEYS = [
  'network',
  'currency',
  'contract_address',
  'decimals',
  'address',
  'amount',
  'payment_uri',
  'required_confirmations',
];
/** What everybody may see who holds the token. */
const PUBLIC_KEYS = [
  'token',
  'status',
  'amount_status',
  'amount_usd',
  'currency',
  'description',
  'merchant',
  'is_live',
  'expires_at',
  'server_time',
  'methods',
  'transactions',
  'paid_network',
  'transaction_hash',
  'success_url',
  'cancel_url',
];

type Row = Record<string, ReturnType<typeof JSON.parse>>;

describe('payment links, read and cancelled', () => {
  let api: TestApi;
  let key: string;
  let customer: Row;
  before(async () => {
    api = await startTestApi();
    key = api.keys.test;
    customer = (
      await call(`${api.url}/customers`, { key, body: { external_id: 'payer', email: 'payer@example.com' } })
    ).body;
  });
  after(() => api.stop());

  const make = async (more: object = {}, by = key): Promise<Row> => {
    const answer = await call(`${api.url}/request-payment`, {
      key: by,
      body: { email: 'payer@example.com', amount_usd: 25, ...more },
    });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  };
  const read = (id: string, by = key) => call(`${api.url}/payment-links/${id}`, { key: by });
  const list = (query = '', by = key) => call(`${api.url}/payment-links?${query}`, { key: by });
  const ids = ({ body }: Answer) => body['data'].map(({ id }: Row) => id);
  const look = (token: string) => call(`${api.url}/payments/${token}`);
  const cancel = (id: string, by = key) =>
    call(`${api.url}/payment-links/${id}/cancel`, { key: by, method: 'POST' });
  const pay = async (more: object): Promise<Row> => {
    const answer = await call(`${api.url}/test/simulate-deposit`, {
      key,
      body: { customer_id: customer['id'], ...more },
    });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  };

  describe('GET /payments/:token', () => {
    it('shows the payer how to pay, and nothing that is the merchant’s', async () => {
      const link = await make({
        description: 'Order 7',
        external_id: 'secret-order',
        metadata: { secret: 'member' },
        webhook_url: 'http://127.0.0.1:9/x',
        success_url: 'https://shop.example/ok',
        cancel_url: 'https://shop.example/no',
      });
      const answer = await look(link['token']);
      expect(answer.status).to.equal(200);
      const { body } = answer;
      expect(Object.keys(body)).to.have.members(PUBLIC_KEYS);
      expect(body).to.deep.include({
        token: link['token'],
        status: 'pending',
        amount_status: 'none',
        amount_usd: 25,
        currency: 'USDT',
      });
      expect(body).to.deep.include({
        description: 'Order 7',
        merchant: { name: 'Shop' },
        is_live: false,
        transactions: [],
      });
      expect(body).to.include({
        success_url: 'https://shop.example/ok',
        cancel_url: 'https://shop.example/no',
        transaction_hash: null,
      });
      for (const secret of [
        'payer@example.com',
        'secret',
        '127.0.0.1',
        customer['id'],
        link['id'],
        api.merchant.id,
      ])
        expect(answer.text).not.to.include(secret);
      const [bsc, tron] = body['methods'];
      for (const method of [bsc, tron]) expect(Object.keys(method)).to.have.members(METHOD_KEYS);
      const { bsc: contract, tron: tronContract } = api.deps.settings.contracts;
      const [to, toTron] = customer['addresses'].map(({ address }: Row) => address);
      expect(bsc).to.include({
        network: 'bsc',
        currency: 'USDT',
        decimals: 18,
        amount: '25',
        address: to,
        required_confirmations: 15,
      });
      expect(bsc).to.include({
        contract_address: contract,
        payment_uri: `ethereum:${contract}@56/transfer?address=${to}&uint256=25${'0'.repeat(18)}`,
      });
      expect(tron).to.include({
        network: 'tron',
        decimals: 6,
        amount: '25',
        address: toTron,
        contract_address: tronContract,
      });
      expect(Math.abs(Date.parse(body['server_time']) - Date.now())).to.be.below(5_000);
    });

    it('needs no credentials and takes no notice of any', async () => {
      const { token } = await make();
      const other = await api.newMerchant();
      for (const sent of [undefined, other.keys.live, 'nonsense'])
        expect(
          (await call(`${api.url}/payments/${token}`, sent === undefined ? {} : { key: sent })).status,
        ).to.equal(200);
    });

    it('answers one and the same 404 for a token that is unknown and for one that cannot be', async () => {
      const { token, id } = await make();
      const wrong = [
        UNKNOWN_TOKEN,
        'x',
        id,
        `${token}x`,
        token.slice(0, -1),
        token.toLowerCase(),
        '%00',
        '%F0%9F%99%82',
        'x'.repeat(3000),
      ];
      const answers = await Promise.all(wrong.map(look));
      expect(answers.map(({ status }) => status)).to.deep.equal(wrong.map(() => 404));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    });
  });

  describe('a payment', () => {
    it('shows as seen, then as paid in part, then as paid, and the address goes when nothing is left to send', async () => {
      const { token, id } = await make({ amount_usd: 60 });
      const seen = await pay({ amount: '20', payment_token: token, outcome: 'confirming' });
      const before = (await look(token)).body;
      expect(before).to.include({ status: 'processing', amount_status: 'none' });
      expect(before['methods'].map(({ amount }: Row) => amount)).to.deep.equal(['40', '40']);
      expect(before['transactions']).to.deep.equal([
        {
          transaction_hash: seen['transaction_hash'],
          network: 'bsc',
          amount: '20',
          confirmations: 1,
          status: 'confirming',
        },
      ]);
      const last = await pay({ amount: '60', payment_token: token, network: 'tron' });
      const after = (await look(token)).body;
      expect(after).to.include({
        status: 'completed',
        paid_network: 'tron',
        transaction_hash: last['transaction_hash'],
      });
      expect(after['methods']).to.deep.equal([]);
      const link = (await read(id)).body;
      expect(link).to.include({
        status: 'completed',
        paid_network: 'tron',
        paid_currency: 'USDT',
        remaining_amount_usd: 0,
      });
      expect(link['transactions']).to.have.length(2);
      expect(link['completed_at']).to.be.a('string');
      expect((await cancel(id)).status).to.equal(400);
    });

    it('that is too small leaves the rest to pay', async () => {
      const { token, id } = await make({ amount_usd: 30 });
      await pay({ amount: '10.01', payment_token: token });
      expect((await look(token)).body).to.include({ status: 'partially_paid', amount_status: 'underpaid' });
      expect((await look(token)).body['methods'].map(({ amount }: Row) => amount)).to.deep.equal([
        '19.99',
        '19.99',
      ]);
      expect((await read(id)).body).to.include({
        paid_amount_usd: 10.01,
        remaining_amount_usd: 19.99,
        overpaid_amount_usd: 0,
      });
    });
  });

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
