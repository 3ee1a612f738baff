import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { type Crawled, crawl, type FoundForm } from '../../support/http/crawl.ts';
import { makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

const MERCHANTS = 2;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const KINDS = ['customer', 'endpoint', 'event', 'delivery', 'deposit', 'link'] as const;
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
      body: new URLSearchParams(members),
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

  const crawledBy = (tenant: Tenant): Crawled => found.get(tenant) ?? { pages: new Map(), forms: [] };

  it('lead nowhere that is not there, name nobody else, and are no larger than they may be', () => {
    for (const tenant of tenants)
      for (const [path, { status, text }] of crawledBy(tenant).pages) {
        expect(status, path).to.equal(200);
        expect(strangersIn(text, tenant, ''), path).to.deep.equal([]);
        if (!path.includes('.csv')) expect(Buffer.byteLength(text), path).to.be.at.most(MAX_PAGE_BYTES);
      }
  });

  it('are the page of what nobody has, with every id that is another’s', async () => {
    for (const reader of tenants) {
      const paths = [...crawledBy(reader).pages.keys()].filter((path) => UUID.test(path));
      const kinds = new Map(paths.map((path) => [path.replace(new RegExp(UUID, 'g'), ':id'), path]));
      const others = tenants.filter((one) => one !== reader);
      for (const path of kinds.values()) {
        const nobodys = await get(reader, path.replace(UUID, randomUUID()));
        for (const [index, kind] of KINDS.entries()) {
          const id = others[index % others.length]?.values[kind][0] ?? '';
          const foreign = await get(reader, path.replace(UUID, id));
          expect(strangersIn(foreign.text, reader, id), path).to.deep.equal([]);
          expect(foreign.status, `${path} with a ${kind}`).to.equal(nobodys.status);
          if (UUID.test(path.split('?')[0] ?? '')) expect(foreign.status, path).to.equal(404);
        }
      }
    }
  });

  it('change nothing of another by a form whose address or members name it', async () => {
    for (const reader of tenants) {
      const before = await rowsOf(api, tenants);
      const others = tenants.filter((one) => one !== reader);
      for (const form of crawledBy(reader).forms)
        for (const other of others) for (const kind of KINDS) await swapped(reader, other, form, kind);
      const after = await rowsOf(api, tenants);
      for (const other of others)
        for (const [table, rows] of Object.entries(after[other.index] ?? {})) {
          const isShared = table.endsWith(' of the merchant') && other.merchantId === reader.merchantId;
          if (!isShared) expect(rows, `${table} of ${other.name}`).to.equal(before[other.index]?.[table]);
        }
    }
  });

  /** Posts the form with an id of another tenant wherever an id stands. */
  const swapped = async (
    reader: Tenant,
    other: Tenant,
    { action, fields }: FoundForm,
    kind: (typeof KINDS)[number],
  ) => {
    const id = other.values[kind][0] ?? '';
    const isNamed = (name: string, value: string) =>
      name !== 'once' && (UUID.test(value) || name.endsWith('_id') || name === 'id');
    const names = UUID.test(action) || fields.some(({ name, value }) => isNamed(name, value));
    if (!names || action.endsWith('/logout')) return;
    const members = Object.fromEntries(
      fields.map(({ name, value }) => [
        name,
        name === 'once' ? randomUUID() : isNamed(name, value) ? id : value || '12.5',
      ]),
    );
    const answer = await post(reader, action.replace(UUID, id), members);
    expect(strangersIn(answer.text, reader, id), action).to.deep.equal([]);
    expect(answer.status, `${action} with a ${kind}`).to.be.within(400, 499);
  };
});
