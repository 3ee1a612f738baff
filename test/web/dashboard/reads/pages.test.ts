import { expect } from 'chai';
import { readText } from '../../../support/http/browser.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { openDashboard, type SignedIn, unexpected } from '../../../support/http/dashboard.ts';
import { type Pages, signedInPages } from '../../../support/http/pages.ts';
import { browserStage } from '../../../support/http/stage.ts';
import { DESTINATION } from '../../../support/payout-rows.ts';

describe('what the dashboard tells of money', function () {
  this.timeout(60_000);
  const the = browserStage();
  let busy: Awaited<ReturnType<typeof busyMerchant>>;
  let pages: Pages;
  let signedIn: SignedIn;
  before(async () => {
    busy = await busyMerchant(the.api);
    pages = await signedInPages(the.api, busy.merchantId);
    signedIn = await openDashboard(the.browser, the.api, { merchantId: busy.merchantId });
  });
  afterEach(() => expect(unexpected(signedIn)).to.deep.equal([]));

  const at = async (path: string) => {
    await signedIn.page.goto(`${the.api.origin}/dashboard${path}`);
    return signedIn.page;
  };

  it('is the balance as the API has it, what waits for whom, each day, and the endpoint that fails', async () => {
    const page = await at('');
    expect(await readText(page.locator('#balance')))
      .to.include('19.50 USD')
      .and.to.include('16.00 USD available, 3.50 USD pending')
      .and.to.include('40.000000000000000001 USDT');
    const waits = await readText(page.locator('#waiting'));
    expect(waits)
      .to.match(/It waits for you[\s\S]*It waits for the operator/)
      .and.to.include('No withdraw address is set')
      .and.to.include('2 deposits that are not confirmed')
      .and.to.include('2 completed deposits')
      .and.to.include('1 failed deposit');
    const link = page.getByRole('link', { name: 'Set a withdraw address' });
    expect(await link.getAttribute('href')).to.equal('/dashboard/settings/withdraw');
    expect(await readText(page.getByRole('note').first()))
      .to.include('An endpoint fails')
      .and.to.include('HTTP 503')
      .and.to.include('were given up');
    const today = new Date().toISOString().slice(0, 10);
    const chart = page.getByRole('img', { name: `Highest day: 56.00 USD on ${today}` });
    expect(await chart.locator('rect').count()).to.equal(1);
    await page.getByText('The same as a table').click();
    const days = page.locator('#days').getByRole('row');
    expect(await days.count()).to.equal(31);
    expect(await readText(days.nth(1))).to.match(new RegExp(`${today}\\s+3\\s+56\\.00 USD`));
    expect(await page.locator('#latest').getByRole('row').count()).to.equal(7);
  });

  it('is the whole story of a deposit, with the reason of the operator and without the name', async () => {
    let page = await at(`/deposits/${busy.deposits.rejected}`);
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
    page = await at(`/deposits/${busy.deposits.settled}`);
    expect(await readText(page.locator('#payout')))
      .to.include('40.000000000000000001 USDT')
      .and.to.include('0.000000000000000007 BNB');
    expect(await readText(page.locator('#timeline'))).to.include('+40.000000000000000001 USDT settled');
    await page.getByRole('link', { name: 'Look at the payout' }).click();
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/payouts/${busy.payouts.settled}`);
    const inTest = await pages.get(`/dashboard/test/deposits/${busy.deposits.settled}`);
    expect(inTest.status, 'in the other mode').to.equal(404);
    page = await at(`/deposits/${busy.deposits.completed}`);
    expect(await readText(page.getByRole('note'))).to.include('It waits for you');
    page = await at(`/deposits/${busy.deposits.confirming}`);
    expect(await page.getByRole('progressbar', { name: 'Confirmations' }).count()).to.equal(1);
    await page.getByRole('button', { name: 'Send again: deposit.confirming' }).click();
    const event = await busy.eventOf(busy.deposits.confirming, 'deposit.confirming');
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/events/${event}`);
  });

  it('is what was paid to whom at which cost, what was sent for it, and why a payout waits', async () => {
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
    expect((await pages.get(`/dashboard/test/payouts/${busy.payouts.settled}`)).status).to.equal(404);
  });

  it('is the very body of an event that was signed, as a text and as a file of the same bytes', async () => {
    const bodyOf = async (id: string): Promise<Buffer> => {
      const [row] = await busy.sql<{ body: Buffer }>('select body from events where id = ?', [id]);
      return row?.body ?? Buffer.alloc(0);
    };
    const id = await busy.eventOf(busy.deposits.settled, 'deposit.settled');
    const page = await at(`/events/${id}`);
    const body = await bodyOf(id);
    expect(await page.locator('pre.body').textContent()).to.equal(body.toString());
    const waiting = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download exactly these bytes' }).click();
    const file = await (await waiting).createReadStream();
    expect(Buffer.concat(await file.toArray()).equals(body)).to.equal(true);
    expect(await readText(page.locator('#deliveries')))
      .to.include('http://127.0.0.1:9/hook')
      .and.to.include('the connection was refused');
    // What would turn the text around is written out; the file keeps it.
    const hostile = await busy.eventOf(busy.customerId, 'customer.created');
    const { text } = await pages.get(`/dashboard/events/${hostile}`);
    expect(text)
      .to.include('\\u202egnp.exe')
      .and.to.include('the file has them as they are')
      .and.not.to.match(/\u202E|<img/);
    const kept = (await bodyOf(hostile)).toString();
    expect(kept).to.include('\u202E');
    expect((await pages.get(`/dashboard/events/${hostile}/body.json`)).text).to.equal(kept);
    const other = await signedInPages(the.api, (await the.api.newMerchant()).id);
    expect((await other.get(`/dashboard/events/${hostile}/body.json`)).status).to.equal(404);
    expect((await pages.get(`/dashboard/test/events/${hostile}/body.json`)).status).to.equal(404);
  });
});
