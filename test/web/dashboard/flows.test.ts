import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { listActions } from '../../../src/services/audit/list.ts';
import { readText } from '../../support/http/browser.ts';
import { handsOn, openDashboard, type SignedIn } from '../../support/http/dashboard.ts';
import { browserStage } from '../../support/http/stage.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/hook';

/** Each thing is made, found, changed and ended by a person, with and without script by turns. */
describe('a person at the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();
  let merchantId: string;
  let signedIn: SignedIn;
  let at: ReturnType<typeof handsOn>;

  const sql = <Row = Record<string, unknown>>(text: string, params: unknown[] = []) =>
    the.api.deps.orm.em.fork().execute<Row[]>(text, params);
  const enter = async (path: string, javaScriptEnabled: boolean) => {
    merchantId = (await the.api.newMerchant()).id;
    signedIn = await openDashboard(the.browser, the.api, { merchantId, path, javaScriptEnabled });
    at = handsOn(signedIn);
    return signedIn.page;
  };
  /** What the merchant's people did, each by the person who is signed in. */
  const done = async (): Promise<string[]> => {
    const actions = await listActions(the.api.deps, { merchantId, limit: 20 });
    const own = actions.filter(({ by }) => by === signedIn.user.email);
    expect(JSON.stringify(actions)).not.to.include('whsec_');
    return own.map(({ action }) => action).reverse();
  };
  afterEach(() => at.leave(400, 404));

  it('makes, finds and cancels a payment link', async () => {
    const page = await enter('/dashboard/test/links', true);
    expect(await at.main()).to.include('No payment links yet');
    await at.go('Make the first one');
    await at.type('Email of the customer', 'ann@example.com');
    await at.type('Amount in USD', '1.25');
    await at.type('Description', 'Order 1001');
    await at.press('Create payment link');
    expect(await readText(page.locator('#amount_usd-error'))).to.equal(
      'The smallest amount of a payment link is 5 USD.',
    );
    expect(await page.getByLabel('Description').inputValue()).to.equal('Order 1001');
    await at.type('Amount in USD', '25.50');
    await page.getByLabel('Network').selectOption({ index: 1 });
    await page.getByLabel('Can be paid for').selectOption('1 day');
    await at.press('Create payment link');
    expect(await readText(page.locator('h1'))).to.include('Order 1001');
    expect(await readText(page.locator('#link-url'))).to.match(/\/pay\/pl_[A-Za-z0-9]{33}$/);
    const code = page.getByRole('img', { name: 'QR code of the address for the payer' });
    expect(await code.count()).to.equal(1);
    expect(await readText(page.getByRole('note'))).to.include('Nothing has been paid of 25.50 USD');
    const rows = await sql(
      `select amount_cents, network, round(extract(epoch from expires_at - created_at)) as s, mode
         from payment_links where merchant_id = ?`,
      [merchantId],
    );
    expect(rows).to.deep.equal([{ amount_cents: '2550', network: 'bsc', s: '86400', mode: 'test' }]);
    await at.go('← Payment links');
    await page.getByLabel('State').selectOption('Not paid yet');
    await at.type('From day (UTC)', new Date().toISOString().slice(0, 10));
    await at.type('Search', 'order 10');
    await at.press('Filter');
    expect(await page.getByRole('row').count()).to.equal(2);
    await at.go('Order 1001');
    await at.go('Cancel the link');
    await at.press('Cancel the link');
    expect(await readText(page.getByRole('note'))).to.include('It was cancelled');
    const link = page.url();
    expect(await page.getByRole('link', { name: 'Cancel the link' }).count()).to.equal(0);
    await page.goto(`${link}/cancel`);
    expect(await at.main()).to.include('There is nothing to cancel.');
    expect(await page.getByRole('button', { name: 'Cancel the link' }).count()).to.equal(0);
    await at.go('Look at the link');
    expect(page.url()).to.equal(link);
    expect(await done()).to.deep.equal(['link.create', 'link.cancel']);
  });

  it('registers an endpoint, changes it, gives it a new secret, tries and deletes it', async () => {
    const page = await enter('/dashboard/test/endpoints', false);
    await at.go('Register the first one');
    await at.type('Address', 'http://10.0.0.1/');
    await page.getByLabel('All common ones').uncheck();
    await page.getByLabel('deposit.completed').check();
    await at.press('Register endpoint');
    expect(await page.locator('#url-error').count()).to.equal(1);
    expect(await page.getByLabel('deposit.completed').isChecked()).to.equal(true);
    expect(await page.getByLabel('All common ones').isChecked()).to.equal(false);
    await at.type('Address', NOWHERE);
    await at.press('Register endpoint');
    const secret = await readText(page.locator('#secret-0'));
    expect(secret).to.match(/^whsec_/);
    await page.reload();
    expect(await at.main())
      .to.include('done already')
      .and.not.to.include(secret);
    expect(await sql('select 1 from webhook_endpoints where merchant_id = ?', [merchantId])).to.have.length(
      1,
    );
    await at.go('Go on');
    expect(await page.content()).not.to.include(secret);
    await at.go('Change');
    await page.getByLabel('payment.completed').check();
    await at.type('Description', 'Orders');
    await at.press('Save');
    expect(
      await sql('select url, events, description from webhook_endpoints where merchant_id = ?', [merchantId]),
    ).to.deep.equal([
      { url: NOWHERE, events: ['deposit.completed', 'payment.completed'], description: 'Orders' },
    ]);
    await at.go('New secret');
    expect(await at.main()).to.include('24 hours');
    await at.press('Make a new secret');
    expect(await readText(page.locator('#secret-0')))
      .to.match(/^whsec_/)
      .and.not.to.equal(secret);
    await at.go('I have copied it');
    await at.press('Disable');
    expect(await at.main()).to.include('Nothing is sent to this endpoint');
    expect(await page.getByRole('button', { name: 'Send a test event' }).count()).to.equal(0);
    await at.press('Enable');
    await at.press('Send a test event');
    expect(await readText(page.locator('table')))
      .to.include('webhook.test')
      .and.to.include('On its way');
    await at.go('← The endpoint');
    await at.go('Delete');
    await at.press('Delete the endpoint');
    expect(await at.main()).to.include('No endpoints yet');
    const changes = Array.from({ length: 4 }, () => 'endpoint.change');
    expect(await done()).to.deep.equal(['endpoint.create', ...changes, 'endpoint.test', 'endpoint.delete']);
  });

  it('makes the page of a customer who has none, and another one where its address can be told no more', async () => {
    const page = await enter('/dashboard/customers', false);
    const names = { externalId: 'user-7', email: null, name: null, metadata: {} };
    const { id } = await createCustomer(the.api.deps, { merchantId, mode: 'live', ...names });
    const lose = (what: string) => sql(`update customers set ${what} where id = ?`, [id]);
    await lose('page_token_hash = null, page_token_sealed = null');
    await page.goto(`${the.api.origin}/dashboard/customers/${id}`);
    expect(await at.main()).to.include('This customer has no page yet');
    await at.press('Make the page');
    const first = await readText(page.locator('#page-url'));
    await lose("page_token_sealed = '\\x01'");
    await page.reload();
    expect(await at.main()).to.include('can be shown no more');
    await at.go('Replace its address');
    await at.press('Replace the address');
    expect(await readText(page.locator('#page-url')))
      .to.match(/\/address\/ap_[A-Za-z0-9]{32}$/)
      .and.not.equal(first);
    expect(await done()).to.deep.equal(['customer.new-page', 'customer.new-page']);
  });

  it('simulates a deposit of a chosen customer, coin, amount and outcome', async () => {
    const page = await enter('/dashboard/test/simulate', true);
    expect(await at.main()).to.include('There is no test customer yet');
    for (const [mode, name] of [
      ['test', '<b>Ann</b>'],
      ['live', 'Only live'],
    ] as const)
      await createCustomer(the.api.deps, {
        merchantId,
        mode,
        externalId: randomUUID(),
        email: null,
        name,
        metadata: {},
      });
    await page.reload();
    expect(await readText(page.getByLabel('Customer')))
      .to.include('<b>Ann</b>')
      .and.not.to.include('Only live');
    await page.getByLabel('What arrives').selectOption({ index: 2 });
    await at.type('Amount, in coins', '1.23456789');
    await at.press('Simulate the deposit');
    expect(await readText(page.locator('#amount-error'))).to.equal('Must have at most 6 decimals.');
    await at.type('Amount, in coins', '1.234567');
    await page.getByLabel('Where it ends').selectOption('Waiting for confirmations');
    await page.getByLabel('What your endpoints are told').selectOption('Every state on the way');
    await at.press('Simulate the deposit');
    await page.waitForURL(/\/deposits\//);
    const [{ id, ...deposit } = {}, ...more] = await sql(
      'select id, network, currency, amount_units, status, mode from deposits where merchant_id = ?',
      [merchantId],
    );
    const made = { network: 'tron', currency: 'TRX', amount_units: '1234567', status: 'confirming' };
    expect([deposit, more]).to.deep.equal([{ ...made, mode: 'test' }, []]);
    expect(new URL(page.url()).pathname).to.equal(`/dashboard/test/deposits/${id}`);
  });
});
