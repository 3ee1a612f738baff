import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { listActions } from '../../../src/services/audit/list.ts';
import { startTestApi } from '../../support/gateway.ts';
import { readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { errorAt, signedInPages } from '../../support/http/pages.ts';
import { browserStage } from '../../support/http/stage.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/hook';

describe('webhook endpoints in the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  const sql = <Row = Record<string, unknown>>(text: string, params: unknown[] = []) =>
    the.api.deps.orm.em.fork().execute<Row[]>(text, params);
  const endpointsOf = (merchantId: string) =>
    sql<{ id: string; url: string; events: string[]; enabled: boolean; description: string | null }>(
      `select id, url, events, enabled, description from webhook_endpoints
       where merchant_id = ? and deleted_at is null order by created_at`,
      [merchantId],
    );
  for (const javaScriptEnabled of [true, false]) {
    it(`are registered, changed, given a new secret and deleted ${javaScriptEnabled ? 'with' : 'without'} script`, async () => {
      const { id: merchantId } = await the.api.newMerchant();
      const signedIn = await openDashboard(the.browser, the.api, {
        merchantId,
        path: '/dashboard/test/endpoints',
        javaScriptEnabled,
      });
      const { page, context, user } = signedIn;
      await page.getByRole('link', { name: 'Register the first one' }).click();
      await page.getByLabel('Address').fill('http://10.0.0.1/');
      await page.getByLabel('All common ones').uncheck();
      await page.getByLabel('deposit.completed').check();
      await page.getByRole('button', { name: 'Register endpoint' }).click();
      expect(await page.locator('#url-error').count()).to.equal(1);
      expect(await page.getByLabel('deposit.completed').isChecked()).to.equal(true);
      expect(await page.getByLabel('All common ones').isChecked()).to.equal(false);
      await page.getByLabel('Address').fill(NOWHERE);
      await page.getByRole('button', { name: 'Register endpoint' }).click();
      const secret = await readText(page.locator('#secret-0'));
      expect(secret).to.match(/^whsec_/);
      await page.reload();
      expect(await readText(page.locator('main')))
        .to.include('shown already')
        .and.not.to.include(secret);
      await page.goto(`${the.api.origin}/dashboard/test/endpoints`);
      await page.getByRole('link', { name: NOWHERE }).click();
      expect(await page.content()).not.to.include(secret);
      await page.getByRole('link', { name: 'Change' }).click();
      await page.getByLabel('payment.completed').check();
      await page.getByLabel('payment.expired').check();
      await page.getByLabel('Description').fill('Orders');
      await page.getByRole('button', { name: 'Save' }).click();
      const [changed] = await endpointsOf(merchantId);
      expect(changed).to.deep.include({
        url: NOWHERE,
        events: ['deposit.completed', 'payment.completed', 'payment.expired'],
        description: 'Orders',
      });
      await page.getByRole('link', { name: 'New secret' }).click();
      expect(await readText(page.locator('main'))).to.include('24 hours');
      await page.getByRole('button', { name: 'Make a new secret' }).click();
      const other = await readText(page.locator('#secret-0'));
      expect(other)
        .to.match(/^whsec_/)
        .and.not.to.equal(secret);
      await page.getByRole('link', { name: 'I have copied it' }).click();
      await page.getByRole('button', { name: 'Disable' }).click();
      expect(await readText(page.locator('main'))).to.include('Nothing is sent to this endpoint');
      expect(await page.getByRole('button', { name: 'Send a test event' }).count()).to.equal(0);
      await page.getByRole('button', { name: 'Enable' }).click();
      await page.getByRole('button', { name: 'Send a test event' }).click();
      expect(await readText(page.locator('table')))
        .to.include('webhook.test')
        .and.to.include('On its way');
      await page.getByRole('link', { name: '← The endpoint' }).click();
      await page.getByRole('link', { name: 'Delete' }).click();
      await page.getByRole('button', { name: 'Delete the endpoint' }).click();
      expect(await readText(page.locator('main'))).to.include('No endpoints yet');
      expect(await endpointsOf(merchantId)).to.deep.equal([]);
      const actions = await listActions(the.api.deps, { merchantId, limit: 20 });
      expect(actions.every(({ by }) => by === user.email)).to.equal(true);
      expect(actions.map(({ action }) => action).reverse()).to.deep.equal([
        'endpoint.create',
        'endpoint.change',
        'endpoint.change',
        'endpoint.change',
        'endpoint.change',
        'endpoint.test',
        'endpoint.delete',
      ]);
      expect(JSON.stringify(actions)).not.to.include('whsec_');
      await context.close();
      expect(unexpected(signedIn, 400, 404)).to.deep.equal([]);
    });
  }

  it('refuse every wrong field at that field, and change nothing', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const pages = await signedInPages(the.api, merchantId);
    const good = { url: NOWHERE, 'events.*': 'on' };
    const wrong: readonly [fields: Readonly<Record<string, string>>, at: string][] = [
      [{ ...good, url: '' }, 'url'],
      [{ ...good, url: 'shop.example' }, 'url'],
      [{ ...good, url: 'javascript:alert(1)' }, 'url'],
      [{ ...good, url: 'http://169.254.169.254/latest' }, 'url'],
      [{ ...good, url: `http://127.0.0.1/${'x'.repeat(2_048)}` }, 'url'],
      [{ url: NOWHERE }, 'events'],
      [{ url: NOWHERE, 'events.deposit.gone': 'on' }, 'events'],
      [{ ...good, description: 'x'.repeat(501) }, 'description'],
    ];
    for (const [fields, at] of wrong) {
      const sent = await pages.post('/dashboard/endpoints/new', fields);
      expect(sent.status, JSON.stringify(fields).slice(0, 80)).to.equal(400);
      expect(errorAt(sent, at), JSON.stringify(fields).slice(0, 80)).to.be.a('string');
    }
    expect(await endpointsOf(merchantId)).to.deep.equal([]);
    const made = await pages.post('/dashboard/endpoints/new', good);
    expect(made.status).to.equal(303);
    const before = await endpointsOf(merchantId);
    for (const [fields, at] of wrong) {
      const sent = await pages.post(`/dashboard/endpoints/${before[0]?.id}/change`, fields);
      expect([sent.status, typeof errorAt(sent, at)], JSON.stringify(fields).slice(0, 80)).to.deep.equal([
        400,
        'string',
      ]);
    }
    expect(await endpointsOf(merchantId)).to.deep.equal(before);
    const log = `/dashboard/endpoints/${before[0]?.id}/deliveries`;
    for (const query of [
      'status=lost',
      'event=x',
      'event=webhook.test&event=webhook.test',
      'limit=x',
      'event=%00',
    ])
      expect((await pages.get(`${log}?${query}`)).status, query).to.equal(400);
  });

  it('can be changed but for an address that was allowed once, and is forbidden by now', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const { id } = await createEndpoint(the.api.deps, {
      merchantId,
      mode: 'live',
      url: NOWHERE,
      events: ['*'],
      description: null,
    });
    await sql('update webhook_endpoints set url = ? where id = ?', ['http://10.0.0.1/hook', id]);
    const pages = await signedInPages(the.api, merchantId);
    const fields = { url: 'http://10.0.0.1/hook', 'events.deposit.failed': 'on', description: 'Old' };
    expect((await pages.post(`/dashboard/endpoints/${id}/change`, fields)).status).to.equal(303);
    const [row] = await endpointsOf(merchantId);
    expect(row).to.deep.include({
      url: 'http://10.0.0.1/hook',
      events: ['deposit.failed'],
      description: 'Old',
    });
  });

  it('limit how often a test is sent', async () => {
    const limited = await startTestApi({ limits: {} });
    try {
      const pages = await signedInPages(limited);
      const { id } = await createEndpoint(limited.deps, {
        merchantId: limited.merchant.id,
        mode: 'test',
        url: NOWHERE,
        events: ['*'],
        description: null,
      });
      const statuses: number[] = [];
      for (let turn = 0; turn < 15; turn += 1)
        statuses.push((await pages.post(`/dashboard/test/endpoints/${id}/test`)).status);
      expect(statuses.filter((status) => status === 303).length).to.be.within(10, 13);
      expect(statuses.at(-1)).to.equal(429);
    } finally {
      await limited.stop();
    }
  });
});
