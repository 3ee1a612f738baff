import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from './link-calls.ts';

const METHOD_KEYS = `network currency contract_address decimals address amount least_amount payment_uri
  required_confirmations`.split(/\s+/);
/** What everybody may see who holds the token. */
const PUBLIC_KEYS = `token status amount_status amount_usd currency description merchant is_live expires_at
  server_time methods transactions late_transactions paid_network transaction_hash completed_at success_url
  cancel_url`.split(/\s+/);

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

  const { make, look } = linkCallsOf(() => api);
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
        description: 'Order 7',
        merchant: { name: 'Shop' },
        is_live: false,
        transaction_hash: null,
        transactions: [],
        late_transactions: [],
        success_url: 'https://shop.example/ok',
        cancel_url: 'https://shop.example/no',
      });
      const { id: customerId } = customer;
      for (const secret of ['payer@', 'secret', '127.0.0.1', customerId, link['id'], api.merchant.id])
        expect(answer.text).not.to.include(secret);
      const [bsc, tron] = body['methods'];
      for (const method of [bsc, tron]) expect(Object.keys(method)).to.have.members(METHOD_KEYS);
      const { bsc: contract, tron: tronContract } = api.deps.settings.contracts;
      const [to, toTron] = customer['addresses'].map(({ address }: Row) => address);
      const asked = { currency: 'USDT', amount: '25', least_amount: '24.875' };
      expect(bsc).to.include({
        ...asked,
        network: 'bsc',
        decimals: 18,
        address: to,
        required_confirmations: 15,
        contract_address: contract,
        payment_uri: `ethereum:${contract}@56/transfer?address=${to}&uint256=25${'0'.repeat(18)}`,
      });
      expect(tron).to.include({
        ...asked,
        network: 'tron',
        decimals: 6,
        address: toTron,
        contract_address: tronContract,
      });
      expect(Date.parse(body['server_time'])).to.be.a('number').and.not.NaN;
    });

    it('takes no notice of credentials, and answers one and the same 404 for every other token', async () => {
      const { token, id } = await make();
      const other = await api.newMerchant();
      for (const key of [other.keys.live, 'nonsense'])
        expect((await call(`${api.url}/payments/${token}`, { key })).status).to.equal(200);
      const wrong = [
        `pl_${'A'.repeat(32)}`,
        'x',
        id,
        `${token}x`,
        token.slice(0, -1),
        '%00',
        'x'.repeat(3000),
      ];
      const answers = await Promise.all(wrong.map(look));
      expect(answers.map(({ status }) => status)).to.deep.equal(wrong.map(() => 404));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    });
  });
});
