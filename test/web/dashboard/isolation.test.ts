import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PAGES } from '../../../src/web/dashboard/pages/index.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { type Crawled, crawl } from '../../support/http/crawl.ts';
import { makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

const MERCHANTS = 2;
const KINDS = ['customer', 'endpoint', 'event', 'delivery', 'deposit', 'link', 'balance'] as const;
/** Forms would be carried out with these and an id of one's own. */
const MEMBERS = { since: '2026-01-01', url: 'http://127.0.0.1:9/', 'events.*': 'on', of: 'links' };
const MAX_PAGE_BYTES = 100 * 1024;

/** Every coin has a price here: a simulation of any of them goes through. */
const PRICE = { usd8: 100_000_000n, source: 'test', at: new Date(), stale: false };

/** Nobody sees or changes what is another merchant's or the other mode's, whatever id is named. */
describe('the pages of one merchant and mode', function () {
  this.timeout(180_000);
  let api: TestApi;
  let tenants: Tenant[];
  const found = new Map<Tenant, Crawled>();
  const owners = new Map<string, Set<number>>();

  const baseOf = ({ mode }: Tenant) => (mode === 'live' ? '/dashboard' : '/dashboard/test');
  const cookieOf = ({ callers }: Tenant) => ({ Cookie: callers.session['Cookie'] ?? '' });
  const get = (reader: Tenant, path: string) => call(api.origin + path, { headers: cookieOf(reader) });
  const strangersIn = (text: string, reader: Tenant, sent: string) => {
    const said = needlesIn(sent);
    return [...needlesIn(text)].filter((needle) => {
      const of = owners.get(needle);
      return of !== undefined && !of.has(reader.index) && !said.has(needle);
    });
  };
  const post = async (reader: Tenant, action: string, members: Record<string, string>) => {
    const answer = await fetch(api.origin + action, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...cookieOf(reader),
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/html',
      },
      body: new URLSearchParams({ once: randomUUID(), ...members }),
    });
    return { status: answer.status, text: await answer.text() };
  };

  before(async () => {
    api = await startTestApi({ deps: { prices: { price: async () => PRICE } } });
    tenants = await makeTenants(api, MERCHANTS);
    const rows = await rowsOf(api, tenants);
    for (const tenant of tenants)
      for (const needle of needlesIn(
        `${Object.values(rows[tenant.index] ?? {}).join('\n')}${JSON.stringify(tenant.values)}`,
      ))
        owners.set(needle, (owners.get(needle) ?? new Set()).add(tenant.index));
    for (const tenant of tenants) {
      const base = baseOf(tenant);
      const below = tenant.mode === 'live' ? /^\/dashboard(?!\/test)/ : /^\/dashboard\/test/;
      found.set(tenant, await crawl(`${base}/customers`, below, (path) => get(tenant, path)));
    }
  });
  after(() => api.stop());

  /** A reader of each mode and merchant, with its own merchant's other mode and with the other merchant. */
  const pairs = () =>
    [tenants[0], tenants[3]].flatMap((reader) =>
      tenants
        .filter((other) => reader !== undefined && other !== reader)
        .filter((other) => other.mode === reader?.mode || other.merchantId === reader?.merchantId)
        .map((other) => [reader, other] as [Tenant, Tenant]),
    );
  const crawledBy = (tenant: Tenant): Crawled => found.get(tenant) ?? { pages: new Map(), forms: [] };

  it('lead nowhere that is not there, name nobody else, and are no larger than they may be', () => {
    for (const tenant of tenants)
      for (const [path, { status, text }] of crawledBy(tenant).pages) {
        expect(status, path).to.equal(200);
        expect(strangersIn(text, tenant, ''), path).to.deep.equal([]);
        if (!path.includes('.csv')) expect(Buffer.byteLength(text), path).to.be.at.most(MAX_PAGE_BYTES);
      }
  });

  it('are the page of what nobody has, to the byte, with every id that is another’s', async () => {
    for (const [reader, other] of pairs())
      for (const { path, only } of PAGES.filter(({ show }) => show)) {
        if (!path.includes(':id') || (only !== undefined && only !== reader.mode)) continue;
        const at = (id: string) => baseOf(reader) + path.replace(':id', id);
        const nobodys = await get(reader, at(UNKNOWN_ID));
        expect(nobodys.status, `${path} of nobody`).to.equal(404);
        for (const kind of KINDS) {
          const id = other.values[kind][0];
          if (id === undefined || reader.values[kind].includes(id)) continue;
          const foreign = await get(reader, at(id));
          const told = [foreign.status, foreign.text.replaceAll(id, UNKNOWN_ID)];
          const where = `${reader.name}: ${path} with a ${kind} of ${other.name}`;
          expect(told, where).to.deep.equal([404, nobodys.text]);
        }
      }
  });

  it('change nothing of another by a form whose address names it', async () => {
    const before = await rowsOf(api, tenants);
    for (const [reader, other] of pairs())
      for (const { path, only } of PAGES.filter(({ post: form }) => form)) {
        if (!path.includes(':id') || (only !== undefined && only !== reader.mode)) continue;
        for (const kind of KINDS) {
          const id = other.values[kind][0];
          if (id === undefined || reader.values[kind].includes(id)) continue;
          const answer = await post(reader, baseOf(reader) + path.replace(':id', id), MEMBERS);
          const where = `${reader.name}: ${path} with a ${kind} of ${other.name}`;
          expect([answer.status, strangersIn(answer.text, reader, id)], where).to.deep.equal([404, []]);
        }
      }
    expect(await rowsOf(api, tenants)).to.deep.equal(before);
  });
});
