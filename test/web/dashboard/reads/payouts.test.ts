import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../../support/gateway.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { errorAt, type Pages, signedInPages } from '../../../support/http/pages.ts';
import { DESTINATION } from '../../../support/payout-rows.ts';

describe('payouts in the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  let busy: Awaited<ReturnType<typeof busyMerchant>>;
  let pages: Pages;
  before(async () => {
    api = await startTestApi();
    busy = await busyMerchant(api);
    pages = await signedInPages(api, busy.merchantId);
  });
  after(() => api?.stop());

  const shown = (text: string): string[] =>
    Object.entries(busy.payouts)
      .filter(([, id]) => text.includes(`/payouts/${id}"`))
      .map(([name]) => name)
      .sort();

  it('are listed with what waits for whom, and found by state, network and day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const cases: readonly [query: string, names: readonly string[]][] = [
      ['', ['paying', 'settled']],
      ['?state=settled&network=', ['settled']],
      ['?state=paying&network=bsc', ['paying']],
      ['?network=tron', []],
      [`?created_from=${today}`, ['paying', 'settled']],
      ['?created_to=2020-01-01', []],
    ];
    for (const [query, names] of cases) {
      const { status, text } = await pages.get(`/dashboard/payouts${query}`);
      expect([status, shown(text)], query).to.deep.equal([200, names]);
    }
    const { text } = await pages.get('/dashboard/payouts');
    expect(text).to.include('It waits for the operator of this gateway').and.to.include('2 payouts');
    for (const [query, at] of [
      ['state=gone', 'state'],
      ['network=eth', 'network'],
      ['created_from=x', 'created_from'],
      ['state=paying&state=settled', 'state'],
    ] as const) {
      const sent = await pages.get(`/dashboard/payouts?${query}`);
      expect([sent.status, typeof errorAt(sent, at)], query).to.deep.equal([400, 'string']);
    }
    for (const query of ['limit=101', `starting_after=${busy.deposits.settled}`])
      expect((await pages.get(`/dashboard/payouts?${query}`)).status, query).to.equal(400);
  });

  it('tell what was paid to whom at which cost, what was sent for it, and why one waits', async () => {
    const settled = await pages.get(`/dashboard/payouts/${busy.payouts.settled}`);
    expect(settled.text)
      .to.include('40.000000000000000001 USDT')
      .and.to.include('0.000000000000000007 BNB')
      .and.to.include(DESTINATION)
      .and.to.include(`/dashboard/deposits/${busy.deposits.settled}"`)
      .and.to.include('The payment to your withdraw address')
      .and.not.to.include('It waits');
    const paying = await pages.get(`/dashboard/payouts/${busy.payouts.paying}`);
    expect(paying.text)
      .to.include('It waits for the operator of this gateway')
      .and.to.include('no coins left for the fee')
      .and.not.to.include('for the operator</');
    for (const id of ['x', '%00', 'a'.repeat(3_000), busy.deposits.settled, `${busy.payouts.settled}x`])
      expect((await pages.get(`/dashboard/payouts/${id}`)).status, id.slice(0, 40)).to.equal(404);
    expect((await pages.get(`/dashboard/test/payouts/${busy.payouts.settled}`)).status).to.equal(404);
  });

  it('stand beside the balance of each coin on each network, as the API has it', async () => {
    const { id: merchantId, keys } = await api.newMerchant();
    const customer = await call(`${api.url}/customers`, { key: keys.test, body: { external_id: 'one' } });
    const body = { customer_id: customer.body['id'], amount: '12.000001', network: 'tron' };
    await call(`${api.url}/test/simulate-deposit`, { key: keys.test, body });
    const balances = await call(`${api.url}/merchant-balances`, { key: keys.test });
    const own = await signedInPages(api, merchantId);
    const { text } = await own.get('/dashboard/test/payouts/balances');
    const rows: { currency: string; amount: string }[] = balances.body['data'];
    expect(rows).to.have.lengthOf(4);
    for (const { amount, currency } of rows) expect(text).to.include(`${amount} ${currency}`);
    expect(text).to.include('12.000001 USDT').and.to.include('12.00 USD');
    // Where nothing has moved, the page names no time at which it would have.
    expect(text.match(/<time /g)).to.have.lengthOf(1);
    const live = (await own.get('/dashboard/payouts/balances')).text;
    expect(live).not.to.include('12.000001').and.not.to.include('<time ');
    expect(live).to.include('Never');
  });
});
