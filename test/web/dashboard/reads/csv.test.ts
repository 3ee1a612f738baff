import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../../support/gateway.ts';
import { busyMerchant, HOSTILE } from '../../../support/http/busy-merchant.ts';
import { type Pages, signedInPages } from '../../../support/http/pages.ts';

const FILES = ['deposits', 'customers', 'links', 'payouts', 'events'] as const;

describe('files of the lists in the dashboard', function () {
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

  const linesOf = (text: string): string[] => text.trimEnd().split('\r\n');

  it('hold the rows that the list counts, with the filter of the list', async () => {
    for (const name of FILES) {
      const { status, text } = await pages.get(`/dashboard/${name}.csv`);
      const list = await pages.get(`/dashboard/${name}`);
      const total = /<span class="muted">(\d+) /.exec(list.text)?.[1] ?? '0';
      expect([name, status, linesOf(text).length - 1]).to.deep.equal([name, 200, Number(total)]);
    }
    const today = new Date().toISOString().slice(0, 10);
    const filtered: readonly [path: string, rows: number][] = [
      ['deposits.csv?status=completed&network=&created_from=', 2],
      [`deposits.csv?created_from=${today}&created_to=${today}`, 6],
      ['deposits.csv?created_to=2020-01-01', 0],
      [`deposits.csv?customer_id=${busy.customerId}&status=failed`, 1],
      ['customers.csv?search=bob%40', 1],
      ['payouts.csv?state=settled', 1],
      ['events.csv?type=deposit.settled', 1],
    ];
    for (const [path, rows] of filtered)
      expect(linesOf((await pages.get(`/dashboard/${path}`)).text).length - 1, path).to.equal(rows);
  });

  it('are offered for download under a name with the mode, and hold no formula', async () => {
    const response = await fetch(`${api.origin}/dashboard/customers.csv`, {
      headers: { Cookie: pages.cookie },
    });
    expect(response.headers.get('Content-Disposition')).to.equal('attachment; filename="customers-live.csv"');
    expect(response.headers.get('Content-Type')).to.equal('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('Cache-Control')).to.include('no-store');
    expect(response.headers.get('X-Content-Type-Options')).to.equal('nosniff');
    const text = await response.text();
    expect(text)
      .to.include(`'=1+1`)
      .and.not.to.match(/(^|,|\n)"?=1/);
    const test = await call(`${api.origin}/dashboard/test/customers.csv`, {
      headers: { Cookie: pages.cookie },
    });
    expect(test.headers.get('Content-Disposition')).to.include('customers-test.csv');
    expect(linesOf(test.text)).to.have.lengthOf(1);
  });

  it('are refused for a filter that is not right, as a page and not as a file', async () => {
    const wrong = [
      'deposits.csv?status=gone',
      'deposits.csv?status=completed&status=failed',
      'deposits.csv?created_from=x',
      'customers.csv?address=nowhere',
      'links.csv?status=gone',
      'payouts.csv?network=eth',
      'events.csv?subject_id=1',
    ];
    for (const path of wrong) {
      const response = await fetch(`${api.origin}/dashboard/${path}`, { headers: { Cookie: pages.cookie } });
      expect([path, response.status]).to.deep.equal([path, 400]);
      expect(response.headers.get('Content-Type')).to.include('text/html');
      expect(response.headers.get('Content-Disposition')).to.equal(null);
    }
  });

  it('hold nothing of another merchant, and are for nobody who is not signed in', async () => {
    const other = await signedInPages(api, (await api.newMerchant()).id);
    for (const name of FILES) {
      const sent = await other.get(`/dashboard/${name}.csv?limit=1`);
      expect([name, sent.status, linesOf(sent.text).length]).to.deep.equal([name, 200, 1]);
      const nobody = await fetch(`${api.origin}/dashboard/${name}.csv`, { redirect: 'manual' });
      expect(nobody.status).to.equal(303);
    }
    const theirs = await other.get(`/dashboard/deposits.csv?customer_id=${busy.customerId}`);
    expect(linesOf(theirs.text)).to.have.lengthOf(1);
  });
});
