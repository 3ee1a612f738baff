import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../../dev/support/browser.ts';
import { call, startTestApi, type TestApi } from '../../../support/gateway.ts';
import { readText } from '../../../support/http/browser.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { openDashboard, unexpected } from '../../../support/http/dashboard.ts';
import { errorAt, signedInPages } from '../../../support/http/pages.ts';

type Busy = Awaited<ReturnType<typeof busyMerchant>>;

describe('deposits in the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  let busy: Busy;
  before(async () => {
    [api, browser] = await Promise.all([startTestApi(), startBrowser()]);
    busy = await busyMerchant(api);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const shown = (text: string): string[] =>
    Object.entries(busy.deposits)
      .filter(([, id]) => text.includes(`/deposits/${id}"`))
      .map(([name]) => name)
      .sort();

  it('are found by every filter of the API, and only those that pass all of them', async () => {
    const pages = await signedInPages(api, busy.merchantId);
    const [row] = await busy.sql<{ hash: string }>(
      'select transaction_hash as hash from deposits where id = ?',
      [busy.deposits.completed],
    );
    const today = new Date().toISOString().slice(0, 10);
    const all = Object.keys(busy.deposits).sort();
    const ofAnn = ['completed', 'confirming', 'detected', 'rejected'];
    const cases: readonly [query: string, names: readonly string[]][] = [
      ['', all],
      ['?status=completed', ['completed', 'paying']],
      ['?status=failed&network=&currency=&customer_id=&transaction_hash=&created_from=', ['rejected']],
      ['?network=tron', ['confirming']],
      ['?network=bsc&currency=USDT&status=detected', ['detected']],
      ['?currency=BNB', []],
      [`?customer_id=${busy.customerId}`, ofAnn],
      [`?transaction_hash=${row?.hash}`, ['completed']],
      [`?created_from=${today}&created_to=${today}`, all],
      ['?created_to=2020-01-01', []],
    ];
    for (const [query, names] of cases) {
      const { status, text } = await pages.get(`/dashboard/deposits${query}`);
      expect([status, shown(text)], query).to.deep.equal([200, names]);
      if (names.length > 0) expect(text, query).to.include(`${names.length} deposit`);
    }
    const first = await pages.get('/dashboard/deposits?limit=2&status=completed');
    expect(first.text).to.include('/dashboard/deposits.csv?status=completed"');
    const older = /rel="next" href="([^"]+)"/.exec(
      (await pages.get('/dashboard/deposits?limit=4')).text,
    )?.[1];
    const next = await pages.get((older ?? '').replaceAll('&amp;', '&'));
    expect(shown(next.text)).to.have.lengthOf(2);
    expect(next.text).to.include('rel="prev"').and.not.to.include('rel="next"');
  });

  it('show no row for a filter that is not right, and say so at the field', async () => {
    const pages = await signedInPages(api, busy.merchantId);
    const wrong: readonly [query: string, at: string][] = [
      ['status=gone', 'status'],
      ['network=eth', 'network'],
      ['currency=DOGE', 'currency'],
      ['customer_id=1', 'customer_id'],
      ['transaction_hash=0x12', 'transaction_hash'],
      [`transaction_hash=${'a'.repeat(3_000)}`, 'transaction_hash'],
      ['created_from=yesterday', 'created_from'],
      ['created_to=2026-13-40', 'created_to'],
      ['status=completed&status=failed', 'status'],
      [`customer_id=${encodeURIComponent('<img src=x>')}`, 'customer_id'],
    ];
    for (const [query, at] of wrong) {
      const sent = await pages.get(`/dashboard/deposits?${query}`);
      expect([sent.status, shown(sent.text)], query.slice(0, 60)).to.deep.equal([400, []]);
      expect(errorAt(sent, at), query.slice(0, 60)).to.be.a('string');
      expect(sent.text).not.to.include('<img');
    }
    for (const query of [
      'limit=0',
      'limit=1e3',
      'status=%00',
      'page=-1',
      'starting_after=x',
      `ending_before=${busy.customerId}`,
    ])
      expect((await pages.get(`/dashboard/deposits?${query}`)).status, query).to.equal(400);
  });

  it('tell their whole story, with the reason of the operator and without the name', async () => {
    const signedIn = await openDashboard(browser, api, { merchantId: busy.merchantId });
    const { page, context } = signedIn;
    await page.goto(`${api.origin}/dashboard/deposits/${busy.deposits.rejected}`);
    const main = await readText(page.locator('main'));
    expect(main).to.include('stolen card <img src=x onerror=alert(1)>gnp.exe').and.not.to.include('olga');
    expect(await page.locator('main img').count()).to.equal(0);
    const steps = await page.locator('.timeline > li').allInnerTexts();
    const told = ['Seen on the chain', '+3 USDT pending', 'The first block', 'The operator', '+3 USDT held'];
    const places = told.map((words) => steps.findIndex((step) => step.includes(words)));
    expect(places)
      .to.deep.equal([...places].sort((a, b) => a - b))
      .and.not.to.include(-1);
    expect(steps.filter((step) => step.includes('127.0.0.1:9')).length).to.equal(3);

    await page.goto(`${api.origin}/dashboard/deposits/${busy.deposits.settled}`);
    expect(await readText(page.locator('#payout')))
      .to.include('40.000000000000000001 USDT')
      .and.to.include('0.000000000000000007 BNB');
    expect(await readText(page.locator('#timeline'))).to.include('+40.000000000000000001 USDT settled');
    await page.getByRole('link', { name: 'Look at the payout' }).click();
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/payouts/${busy.payouts.settled}`);

    await page.goto(`${api.origin}/dashboard/deposits/${busy.deposits.completed}`);
    expect(await readText(page.getByRole('note'))).to.include('It waits for you');
    await page.goto(`${api.origin}/dashboard/deposits/${busy.deposits.confirming}`);
    expect(await page.getByRole('progressbar', { name: 'Confirmations' }).count()).to.equal(1);
    await page.getByRole('button', { name: 'Send again: deposit.confirming' }).click();
    expect(new URL(page.url()).pathname).to.equal(
      `/dashboard/events/${await busy.eventOf(busy.deposits.confirming, 'deposit.confirming')}`,
    );
    await context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });

  it('of the test mode show a simulation to its end, and nothing that is not so', async () => {
    const { id: merchantId, keys } = await api.newMerchant();
    const customer = await call(`${api.url}/customers`, { key: keys.test, body: { external_id: 'one' } });
    const pages = await signedInPages(api, merchantId);
    const outcomes = {
      detected: 'Seen on the chain',
      completed: '+10 USDT</span> available',
      settled: 'Paid out to the withdraw address',
      reorged: 'no money arrived',
    };
    for (const [outcome, words] of Object.entries(outcomes)) {
      const made = await call(`${api.url}/test/simulate-deposit`, {
        key: keys.test,
        body: {
          customer_id: customer.body['id'],
          outcome,
          transaction_hash: `0x${randomBytes(32).toString('hex')}`,
        },
      });
      const { status, text } = await pages.get(`/dashboard/test/deposits/${made.body['id']}`);
      expect([outcome, status]).to.deep.equal([outcome, 200]);
      expect(text, outcome).to.include(words).and.to.include('No endpoint was to be told');
      expect(text, outcome).not.to.include('It waits');
      expect((await pages.get(`/dashboard/deposits/${made.body['id']}`)).status).to.equal(404);
    }
  });
});
