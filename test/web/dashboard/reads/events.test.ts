import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../../../dev/support/browser.ts';
import { deleteEndpoint } from '../../../../dev/support/use-cases.ts';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';
import { readText } from '../../../support/http/browser.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { openDashboard, unexpected } from '../../../support/http/dashboard.ts';
import { errorAt, type Pages, signedInPages } from '../../../support/http/pages.ts';

describe('events in the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  let browser: Browser;
  let busy: Awaited<ReturnType<typeof busyMerchant>>;
  let pages: Pages;
  before(async () => {
    [api, browser] = await Promise.all([startTestApi(), startBrowser()]);
    busy = await busyMerchant(api);
    pages = await signedInPages(api, busy.merchantId);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  const bodyOf = async (id: string): Promise<Buffer> => {
    const [row] = await busy.sql<{ body: Buffer }>('select body from events where id = ?', [id]);
    return row?.body ?? Buffer.alloc(0);
  };

  it('are found by name, subject and day, each with a way to what it is about', async () => {
    const [all] = await busy.sql<{ n: number }>(
      "select count(*)::int as n from events where merchant_id = ? and mode = 'live'",
      [busy.merchantId],
    );
    const { text } = await pages.get('/dashboard/events');
    expect(text)
      .to.include(`${all?.n} events`)
      .and.to.include(`/dashboard/deposits/${busy.deposits.settled}"`)
      .and.to.include(`/dashboard/customers/${busy.customerId}"`);
    const counts: readonly [query: string, rows: number][] = [
      ['type=deposit.settled', 1],
      [`subject_id=${busy.deposits.settled}`, 4],
      [`subject_id=${busy.deposits.settled}&type=deposit.failed`, 0],
      ['created_to=2020-01-01', 0],
    ];
    for (const [query, rows] of counts) {
      const sent = await pages.get(`/dashboard/events?${query}`);
      expect([
        sent.status,
        sent.text.match(/\/dashboard\/events\/[0-9a-f-]{36}"/g)?.length ?? 0,
      ]).to.deep.equal([200, rows]);
    }
    for (const [query, at] of [
      ['type=gone', 'type'],
      ['subject_id=1', 'subject_id'],
      ['created_from=x', 'created_from'],
    ] as const)
      expect(errorAt(await pages.get(`/dashboard/events?${query}`), at), query).to.be.a('string');
  });

  it('show the very body that was signed, as a text and as a file of the same bytes', async () => {
    const id = await busy.eventOf(busy.deposits.settled, 'deposit.settled');
    const signedIn = await openDashboard(browser, api, {
      merchantId: busy.merchantId,
      path: `/dashboard/events/${id}`,
    });
    const { page, context, user } = signedIn;
    const body = await bodyOf(id);
    expect(await page.locator('pre.body').textContent()).to.equal(body.toString());
    const waiting = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download exactly these bytes' }).click();
    const file = await (await waiting).createReadStream();
    const bytes = Buffer.concat(await file.toArray());
    expect(bytes.equals(body)).to.equal(true);
    expect(user.merchantId).to.equal(busy.merchantId);
    expect(await readText(page.locator('#deliveries')))
      .to.include('http://127.0.0.1:9/hook')
      .and.to.include('the connection was refused');
    await context.close();
    expect(unexpected(signedIn)).to.deep.equal([]);
  });

  it('name an endpoint that is deleted by now, and offer nothing that cannot be done with it', async () => {
    const gone = await busyMerchant(api);
    const own = await signedInPages(api, gone.merchantId);
    const id = await gone.eventOf(gone.deposits.settled, 'deposit.settled');
    const places = [`/dashboard/events/${id}`, `/dashboard/deposits/${gone.deposits.settled}`];
    for (const path of places) expect((await own.get(path)).text, path).to.include('Send again');
    await deleteEndpoint(api.deps, { merchantId: gone.merchantId, mode: 'live', id: gone.endpointId });
    for (const path of places) {
      const { status, text } = await own.get(path);
      expect([status, text.includes('Deleted since'), text.includes('Send again')], path).to.deep.equal([
        200,
        true,
        false,
      ]);
      expect(text).to.include('http://127.0.0.1:9/hook').and.not.to.include(`/endpoints/${gone.endpointId}`);
    }
  });

  it('write out what would turn the text around, and say so, while the file keeps it', async () => {
    const id = await busy.eventOf(busy.customerId, 'customer.created');
    const body = (await bodyOf(id)).toString();
    expect(body).to.include('\u202E');
    const { text } = await pages.get(`/dashboard/events/${id}`);
    expect(text)
      .to.include('\\u202egnp.exe')
      .and.to.include('the file has them as they are')
      .and.not.to.include('\u202E')
      .and.not.to.include('<img');
    expect((await pages.get(`/dashboard/events/${id}/body.json`)).text).to.equal(body);
    const other = await signedInPages(api, (await api.newMerchant()).id);
    for (const path of [`/dashboard/events/${id}`, `/dashboard/events/${id}/body.json`]) {
      expect((await other.get(path)).status, path).to.equal(404);
      expect((await pages.get(path.replace('/dashboard', '/dashboard/test'))).status, path).to.equal(404);
    }
  });
});
