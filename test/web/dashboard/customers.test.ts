import { expect } from 'chai';
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
});
