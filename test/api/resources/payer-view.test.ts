import { expect } from 'chai';
import { apiOf, call } from '../../support/gateway.ts';
import { linkCallsOf, type Row } from './link-calls.ts';

const METHOD_KEYS = `network currency contract_address decimals address amount least_amount payment_uri
  required_confirmations`.split(/\s+/);
/** What everybody may see who holds the token. */
const PUBLIC_KEYS = `token status amount_status amount_usd currency description merchant is_live expires_at
  server_time methods transactions late_transactions paid_network transaction_hash completed_at success_url
  cancel_url`.split(/\s+/);

describe('a payment link, seen by who pays', () => {
  const api = apiOf();
  let customer: Row;
  before(async () => {
    const body = { external_id: 'payer', email: 'payer@example.com' };
    customer = (await call(`${api.url}/customers`, { key: api.keys.test, body })).body;
  });

  const { make, look } = linkCallsOf(() => api);

  it('says how to pay, and nothing that is the merchant’s', async () => {
    const urls = { success_url: 'https://shop.example/ok', cancel_url: 'https://shop.example/no' };
    const kept = { external_id: 'secret-order', metadata: { secret: 'member' } };
    const own = { ...kept, webhook_url: 'http://127.0.0.1:9/x' };
    const link = await make({ description: 'Order 7', ...own, ...urls });
    const { status, body, text } = await look(link['token']);
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.have.members(PUBLIC_KEYS);
    const state = {
      status: 'pending',
      amount_status: 'none',
      amount_usd: 25,
      currency: 'USDT',
      is_live: false,
    };
    const paid = { transaction_hash: null, transactions: [], late_transactions: [] };
    const shop = { token: link['token'], description: 'Order 7', merchant: { name: 'Shop' } };
    expect(body).to.deep.include({ ...state, ...paid, ...shop, ...urls });
    for (const secret of ['payer@', 'secret', '127.0.0.1', customer['id'], link['id'], api.merchant.id])
      expect(text).not.to.include(secret);
    const { contracts } = api.deps.settings;
    const [to, toTron] = customer['addresses'].map(({ address }: Row) => address);
    const asked = { currency: 'USDT', amount: '25', least_amount: '24.875' };
    const [bsc, tron] = body['methods'];
    for (const method of [bsc, tron]) expect(Object.keys(method)).to.have.members(METHOD_KEYS);
    expect(bsc).to.include({
      ...asked,
      network: 'bsc',
      decimals: 18,
      address: to,
      required_confirmations: 15,
    });
    const uri = `ethereum:${contracts.bsc}@56/transfer?address=${to}&uint256=25${'0'.repeat(18)}`;
    expect(bsc).to.include({ contract_address: contracts.bsc, payment_uri: uri });
    const onTron = { network: 'tron', decimals: 6, address: toTron, contract_address: contracts.tron };
    expect(tron).to.include({ ...asked, ...onTron });
  });
});
