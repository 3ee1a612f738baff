import { expect } from 'chai';
import { createCustomer } from '../../../dev/support/use-cases.ts';
import { listActions } from '../../../src/services/audit/list.ts';
import { barriers } from '../../support/http/axe.ts';
import { overflowOf, readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { browserStage } from '../../support/http/stage.ts';

describe('customers in the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  for (const javaScriptEnabled of [true, false]) {
    it(`are made, found and shown ${javaScriptEnabled ? 'with' : 'without'} script`, async () => {
      const { id: merchantId } = await the.api.newMerchant();
      const signedIn = await openDashboard(the.browser, the.api, {
        merchantId,
        path: '/dashboard/test/customers',
        javaScriptEnabled,
      });
      const { page, context } = signedIn;
      expect(await readText(page.locator('main'))).to.include('No customers yet');
      await page.getByRole('link', { name: 'Make the first one' }).click();
      await page.getByRole('button', { name: 'Create customer' }).click();
      expect(await readText(page.getByRole('alert'))).to.include('At least one of external_id and email');
      await page.getByLabel('Your own id of the customer').fill('user-42');
      await page.getByLabel('Email').fill('ann@example');
      await page.getByRole('button', { name: 'Create customer' }).click();
      expect(await readText(page.locator('#email-error'))).to.equal('Must be an email address.');
      expect(await page.getByLabel('Your own id of the customer').inputValue()).to.equal('user-42');
      await page.getByLabel('Email').fill('ann@example.com');
      await page.getByRole('button', { name: 'Create customer' }).click();
      expect(await readText(page.locator('h1'))).to.equal('user-42');
      expect(new URL(page.url()).pathname).to.match(/^\/dashboard\/test\/customers\/[0-9a-f-]{36}$/);
      await page.getByRole('link', { name: '← Customers' }).click();
      await page.getByLabel('Search').fill('ann@');
      await page.getByRole('button', { name: 'Filter' }).click();
      expect(await page.getByRole('row').count()).to.equal(2);
      expect(await overflowOf(page)).to.equal(0);
      if (javaScriptEnabled) expect(await barriers(page)).to.deep.equal([]);
      await context.close();
      expect(unexpected(signedIn, 400)).to.deep.equal([]);
    });
  }

  it('have a page whose address is replaced, once for each question, and written down', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const scope = { merchantId, mode: 'test' } as const;
    const { id } = await createCustomer(the.api.deps, {
      ...scope,
      externalId: 'user-42',
      email: null,
      name: null,
      metadata: {},
    });
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: `/dashboard/test/customers/${id}`,
    });
    const { page, context, user } = signedIn;
    const before = await readText(page.locator('#page-url'));
    const statusOf = async (url: string) =>
      (await context.request.get(the.api.origin + new URL(url).pathname)).status();
    expect(await statusOf(before)).to.equal(200);
    await page.getByRole('link', { name: 'Replace its address' }).click();
    expect(await barriers(page)).to.deep.equal([]);
    expect(await statusOf(before)).to.equal(200);
    const action = page.url();
    const once = await page.locator('input[name=once]').inputValue();
    await page.getByRole('button', { name: 'Replace the address' }).click();
    const after = await readText(page.locator('#page-url'));
    expect(after)
      .to.match(/\/address\/ap_[\w-]{32}$/)
      .and.not.equal(before);
    expect([await statusOf(before), await statusOf(after)]).to.deep.equal([404, 200]);
    // The very form again, as by a second click, does nothing twice.
    const headers = { origin: the.api.origin };
    await context.request.post(action, { form: { once }, headers });
    await page.reload();
    expect(await readText(page.locator('#page-url'))).to.equal(after);
    const actions = await listActions(the.api.deps, { merchantId, limit: 10 });
    expect(
      actions
        .filter(({ action }) => action === 'customer.new-page')
        .map(({ by, subject }) => ({ by, subject })),
    ).to.deep.equal([{ by: user.email, subject: id }]);
    await context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });
});
