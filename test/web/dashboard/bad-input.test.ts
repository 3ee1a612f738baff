import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call, startTestApi, type TestApi, troublesOf } from '../../support/gateway.ts';
import { type Crawled, crawl, type FoundForm, kindOf } from '../../support/http/crawl.ts';
import { makeTenants, type Tenant } from '../../support/tenants.ts';

const VALUES = [
  '',
  '\0',
  '-1',
  '1e309',
  '<script>window.hit = 1</script>',
  '\u202Egnp.exe',
  '\ud800',
  'a@'.repeat(2_000),
  '__proto__',
  "'; drop table deposits; --",
];
/** In every address of a page: members that no page has, and members that lists have. */
const MEMBERS = ['x', 'page', 'starting_after', 'created_from', 'status', 'search'];
const QUERIES = [
  '%',
  '%FF',
  '%00',
  'page=1&page=2',
  'page=1&starting_after=x',
  `x=${'y'.repeat(8_000)}`,
  '&&=&=',
];
const HUGE = 70_000;

/** Every coin has a price here: a simulation of any of them goes through. */
const PRICE = { usd8: 100_000_000n, source: 'test', at: new Date(), stale: false };

/** Whatever an address or a form says, the answer is a page that says so, and never a fault of ours. */
describe('a page of the dashboard that is asked wrongly', function () {
  this.timeout(240_000);
  let api: TestApi;
  let tenant: Tenant;
  let crawled: Crawled;
  let cookie: Record<string, string>;

  before(async () => {
    api = await startTestApi({ deps: { prices: { price: async () => PRICE } } });
    const found = (await makeTenants(api, 1)).find(({ mode }) => mode === 'test');
    if (!found) throw new Error('a merchant has a test mode');
    tenant = found;
    cookie = { Cookie: tenant.callers.session['Cookie'] ?? '' };
    crawled = await crawl('/dashboard/test/customers', /^\/dashboard\/test/, (path) => get(path));
  });
  after(() => api.stop());

  const get = (path: string) => call(api.origin + path, { headers: cookie });
  const post = async (action: string, body: string, more: Record<string, string> = {}) => {
    const answer = await fetch(api.origin + action, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...cookie,
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/html',
        ...more,
      },
      body,
    });
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      text: await answer.text(),
    };
  };
  const kinds = () => [
    ...new Map(
      [...crawled.pages.keys()].map((path) => [kindOf(path.split('?')[0] ?? ''), path.split('?')[0] ?? '']),
    ),
  ];
  const isOwn = ({ action }: FoundForm) => !action.endsWith('/logout');

  it('says so, whatever its address says', async () => {
    for (const [kind, path] of kinds()) {
      // Only lists read what stands in their address; of every other page one such value is enough.
      const isList = crawled.pages.get(path)?.text.includes('class="filters"') ?? false;
      const values = isList ? VALUES : VALUES.slice(0, 3);
      const queries = [
        ...QUERIES,
        ...(isList ? MEMBERS : ['page']).flatMap((name) =>
          values.map((value) => `${name}=${encodeURIComponent(value.toWellFormed())}`),
        ),
      ];
      for (const query of queries) {
        const { status, headers } = await get(`${path}?${query}`);
        expect(status, `${kind}?${query.slice(0, 80)}`).to.be.oneOf([200, 400, 404, 414, 431]);
        if (status !== 431)
          expect(headers.get('content-type'), kind).to.match(/^(text\/(html|csv)|application\/json);/);
      }
    }
    for (const [kind, path] of kinds().filter(([kind]) => kind.includes(':id')))
      for (const value of ['x', '%00', '%FF', '..%2f..', 'a'.repeat(4_000), '%3Cscript%3E']) {
        const { status } = await get(path.replace(/[0-9a-f-]{36}/, value));
        expect(status, `${kind} ${value.slice(0, 20)}`).to.be.oneOf([400, 404]);
      }
    expect(troublesOf(api).map(({ text }) => text)).to.deep.equal([]);
  });

  it('shows the form again, whatever is typed into a field', async () => {
    for (const { action, fields } of crawled.forms.filter(isOwn))
      for (const field of fields.filter(({ name, type }) => name !== 'once' && type !== 'hidden'))
        for (const value of VALUES.slice(1, 8)) {
          const members = fields.map(
            ({ name, value: own }) =>
              [name, name === 'once' ? randomUUID() : name === field.name ? value : own] as [string, string],
          );
          const { status, type, text } = await post(action, `${new URLSearchParams(members)}`);
          const where = `${kindOf(action)} ${field.name}=${JSON.stringify(value.slice(0, 40))}`;
          expect(status, where).to.be.oneOf([200, 303, 400, 403, 404, 409, 429]);
          if (status !== 303) expect(type, where).to.match(/^text\/html/);
          expect(text, where).not.to.include('<script>window');
        }
    expect(troublesOf(api).map(({ text }) => text)).to.deep.equal([]);
  });

  it('refuses a form that is none, too large, forged, or for another method', async () => {
    for (const { action } of crawled.forms.filter(isOwn)) {
      expect((await post(action, `x=${'y'.repeat(HUGE)}`)).status, action).to.equal(413);
      expect((await post(action, '', {})).status, action).to.be.oneOf([400, 403, 404]);
      expect((await post(action, 'once=1&once=2')).status, action).to.be.oneOf([400, 403, 404]);
      for (const headers of [
        { Origin: 'https://evil.example' },
        { 'Sec-Fetch-Site': 'cross-site' },
      ] as Record<string, string>[])
        expect((await post(action, `once=${randomUUID()}`, headers)).status, action).to.equal(403);
      const other = await call(api.origin + action, { method: 'PUT', headers: cookie });
      expect([other.status, other.headers.get('content-type')], action).to.deep.equal([
        405,
        'text/html; charset=utf-8',
      ]);
    }
  });
});
