import { expect } from 'chai';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';
import { busyMerchant, HOSTILE } from '../../../support/http/busy-merchant.ts';
import { errorAt, type Pages, signedInPages } from '../../../support/http/pages.ts';

const LISTS = ['deposits', 'customers', 'links', 'payouts', 'events'] as const;

/** What filters find is told where lists are read: here, that they are plugged in. */
describe('lists in the dashboard, and their files', function () {
  this.timeout(60_000);
  let api: TestApi;
  let busy: Awaited<ReturnType<typeof busyMerchant>>;
  let pages: Pages;
  before(async () => {
    api = await startTestApi();
    busy = await busyMerchant(api, { text: `=1+1 ${HOSTILE}` });
    pages = await signedInPages(api, busy.merchantId);
  });
  after(() => api?.stop());

  const rowsOf = (text: string): number => text.trimEnd().split('\r\n').length - 1;
  const file = (path: string) =>
    fetch(`${api.origin}/dashboard/${path}`, { headers: { Cookie: pages.cookie } });

  it('have the rows that pass every filter, which the file has as well', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const [hash] = await busy.sql<{ hash: string }>(
      'select transaction_hash as hash from deposits where id = ?',
      [busy.deposits.completed],
    );
    const found: readonly [list: (typeof LISTS)[number], query: string, rows: number][] = [
      ['deposits', '', 6],
      ['deposits', 'status=completed&network=&created_from=', 2],
      ['deposits', 'network=tron&currency=USDT', 1],
      ['deposits', `customer_id=${busy.customerId}`, 4],
      ['deposits', `customer_id=${busy.customerId}&status=failed`, 1],
      ['deposits', `transaction_hash=${hash?.hash}`, 1],
      ['deposits', `created_from=${today}&created_to=${today}`, 6],
      ['deposits', 'created_to=2020-01-01', 0],
      ['customers', 'search=bob%40', 1],
      ['links', '', 0],
      ['payouts', '', 2],
      ['payouts', 'state=settled&network=bsc', 1],
      ['payouts', 'created_to=2020-01-01', 0],
      ['events', 'type=deposit.settled', 1],
      ['events', `subject_id=${busy.deposits.settled}`, 4],
      ['events', 'created_to=2020-01-01', 0],
    ];
    for (const [list, query, rows] of found) {
      const shown = await pages.get(`/dashboard/${list}?${query}`);
      const total = Number(/<span class="muted">(\d+) /.exec(shown.text)?.[1] ?? 0);
      const lines = rowsOf((await pages.get(`/dashboard/${list}.csv?${query}`)).text);
      expect([shown.status, total, lines], `${list} ${query}`).to.deep.equal([200, rows, rows]);
    }
    const few = (await pages.get('/dashboard/deposits?limit=4&network=')).text;
    expect(few).to.include('/dashboard/deposits.csv');
    const older = /rel="next" href="([^"]+)"/.exec(few)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const next = (await pages.get(older)).text;
    expect(next).to.include('rel="prev"').and.not.to.include('rel="next"');
    expect(Object.values(busy.deposits).filter((id) => next.includes(`/deposits/${id}"`))).to.have.length(2);
    expect((await pages.get('/dashboard/payouts')).text).to.include(
      'It waits for the operator of this gateway',
    );
    expect((await pages.get('/dashboard/events')).text)
      .to.include(`/dashboard/deposits/${busy.deposits.settled}"`)
      .and.to.include(`/dashboard/customers/${busy.customerId}"`);
  });

  it('show no row for a filter that is not right, and say so at the field: as a page, and not as a file', async () => {
    const wrong: readonly [list: string, query: string, at?: string][] = [
      ['deposits', 'status=gone', 'status'],
      ['deposits', 'network=eth', 'network'],
      ['deposits', 'currency=DOGE', 'currency'],
      ['deposits', `customer_id=${encodeURIComponent('<img src=x>')}`, 'customer_id'],
      ['deposits', `transaction_hash=${'a'.repeat(3_000)}`, 'transaction_hash'],
      ['deposits', 'created_from=yesterday', 'created_from'],
      ['deposits', 'created_to=2026-13-40', 'created_to'],
      ['deposits', 'status=completed&status=failed', 'status'],
      ['deposits', 'limit=0'],
      ['deposits', 'status=%00'],
      ['deposits', 'page=-1'],
      ['deposits', 'starting_after=x'],
      ['deposits', `ending_before=${busy.customerId}`],
      ['customers', 'address=nowhere', 'address'],
      ['links', 'status=gone', 'status'],
      ['payouts', 'state=gone', 'state'],
      ['payouts', `starting_after=${busy.deposits.settled}`],
      ['events', 'type=gone', 'type'],
      ['events', 'subject_id=1', 'subject_id'],
    ];
    for (const [list, query, at] of wrong) {
      const where = `${list}?${query.slice(0, 60)}`;
      const sent = await pages.get(`/dashboard/${list}?${query}`);
      expect(sent.status, where).to.equal(400);
      if (at) expect(errorAt(sent, at), where).to.be.a('string');
      expect(sent.text, where).not.to.match(/<img|<tbody>\s*<tr/);
      if (!at) continue;
      const { status, headers } = await file(`${list}.csv?${query}`);
      expect([status, headers.get('Content-Disposition')], where).to.deep.equal([400, null]);
      expect(headers.get('Content-Type'), where).to.include('text/html');
    }
  });

  it('are offered as files under a name with the mode, without a formula, to nobody else', async () => {
    const response = await file('customers.csv');
    expect(Object.fromEntries(response.headers)).to.include({
      'content-disposition': 'attachment; filename="customers-live.csv"',
      'content-type': 'text/csv; charset=utf-8; header=present',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    expect(await response.text())
      .to.include(`'=1+1`)
      .and.not.to.match(/(^|,|\n)"?=1/);
    const test = await file('test/customers.csv');
    expect(test.headers.get('Content-Disposition')).to.include('customers-test.csv');
    expect(rowsOf(await test.text())).to.equal(0);
    const other = await signedInPages(api, (await api.newMerchant()).id);
    for (const path of [
      ...LISTS.map((name) => `${name}.csv`),
      `deposits.csv?customer_id=${busy.customerId}`,
    ]) {
      const sent = await other.get(`/dashboard/${path}`);
      const nobody = await fetch(`${api.origin}/dashboard/${path}`, { redirect: 'manual' });
      expect([sent.status, rowsOf(sent.text), nobody.status], path).to.deep.equal([200, 0, 303]);
    }
  });
});
