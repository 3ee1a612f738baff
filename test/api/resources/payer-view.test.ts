import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from './link-calls.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;
const METHOD_KEYS = [
  'network',
  'currency',
  'contract_address',
  'decimals',
  'address',
  'amount',
  'least_amount',
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
  'late_transactions',
  'paid_network',
  'transaction_hash',
  'completed_at',
  'success_url',
  'cancel_url',
];

describe('payment links, seen by who pays', () => {
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

  const { make, read, look, cancel } = linkCallsOf(() => api);
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
        late_transactions: [],
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
        least_amount: '24.875',
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
      expect([before['completed_at'], after['completed_at']]).to.deep.equal([
        null,
        (await read(id)).body['completed_at'],
      ]);
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
      const { methods } = (await look(token)).body;
      expect(methods.map(({ amount }: Row) => amount)).to.deep.equal(['19.99', '19.99']);
      // Half a percent of the whole 30 may be missing, not of what is left.
      expect(methods.map((method: Row) => method['least_amount'])).to.deep.equal(['19.84', '19.84']);
      expect((await read(id)).body).to.include({
        paid_amount_usd: 10.01,
        remaining_amount_usd: 19.99,
        overpaid_amount_usd: 0,
      });
    });
  });
});
