import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { PAGES } from '../../../src/web/dashboard/pages/index.ts';
import { call, startTestApi, type TestApi, troublesOf, UNKNOWN_ID } from '../../support/gateway.ts';
import { type Crawled, crawl, type FoundForm, kindOf } from '../../support/http/crawl.ts';
import { makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

const MERCHANTS = 2;
const KINDS = ['customer', 'endpoint', 'event', 'delivery', 'deposit', 'link', 'balance'] as const;
/** Forms would be carried out with these and an id of one's own. */
const MEMBERS = { since: '2026-01-01', url: 'http://127.0.0.1:9/', 'events.*': 'on', of: 'links' };
const MAX_PAGE_BYTES = 100 * 1024;

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
const ASKED = ['x', 'page', 'starting_after', 'created_from', 'status', 'search'];
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

/** Nobody sees or changes what is another merchant's or the other mode's, whatever id is named. */
describe('the pages of one merchant and mode', function () {
  this.timeout(240_000);
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
  const post = async (reader: Tenant, action: string, body: string | Record<string, string>) => {
    const answer = await fetch(api.origin + action, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        ...cookieOf(reader),
        'Content-Type': 'application/x-www-form-urlencoded',
        Accept: 'text/html',
      },
      body: typeof body === 'string' ? body : `${new URLSearchParams({ once: randomUUID(), ...body })}`,
    });
    const type = answer.headers.get('content-type') ?? '';
    return { status: answer.status, type, text: await answer.text() };
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

  // Whatever an address or a form says, the answer is a page that says so, and never a fault of ours.

  /** The test mode of a merchant, where every form is. */
  const rehearsing = (): Tenant => {
    const found = tenants.find(({ mode }) => mode === 'test');
    if (!found) throw new Error('a merchant has a test mode');
    return found;
  };
  const kinds = () => [
    ...new Map(
      [...crawledBy(rehearsing()).pages.keys()].map((path) => [
        kindOf(path.split('?')[0] ?? ''),
        path.split('?')[0] ?? '',
      ]),
    ),
  ];
  const isOwn = ({ action }: FoundForm) => !action.endsWith('/logout');

  it('say so, whatever their address says', async () => {
    for (const [kind, path] of kinds()) {
      // Only lists read what stands in their address; of every other page one such value is enough.
      const isList = crawledBy(rehearsing()).pages.get(path)?.text.includes('class="filters"') ?? false;
      const values = isList ? VALUES : VALUES.slice(0, 3);
      const queries = [
        ...QUERIES,
        ...(isList ? ASKED : ['page']).flatMap((name) =>
          values.map((value) => `${name}=${encodeURIComponent(value.toWellFormed())}`),
        ),
      ];
      for (const query of queries) {
        const { status, headers } = await get(rehearsing(), `${path}?${query}`);
        expect(status, `${kind}?${query.slice(0, 80)}`).to.be.oneOf([200, 400, 404, 414, 431]);
        if (status !== 431)
          expect(headers.get('content-type'), kind).to.match(/^(text\/(html|csv)|application\/json);/);
      }
    }
    for (const [kind, path] of kinds().filter(([kind]) => kind.includes(':id')))
      for (const value of ['x', '%00', '%FF', '..%2f..', 'a'.repeat(4_000), '%3Cscript%3E']) {
        const { status } = await get(rehearsing(), path.replace(/[0-9a-f-]{36}/, value));
        expect(status, `${kind} ${value.slice(0, 20)}`).to.be.oneOf([400, 404]);
      }
    expect(troublesOf(api).map(({ text }) => text)).to.deep.equal([]);
  });

  it('show the form again, whatever is typed into a field', async () => {
    for (const { action, fields } of crawledBy(rehearsing()).forms.filter(isOwn))
      for (const field of fields.filter(({ name, type }) => name !== 'once' && type !== 'hidden'))
        for (const value of VALUES.slice(1, 8)) {
          const members = fields.map(
            ({ name, value: own }) =>
              [name, name === 'once' ? randomUUID() : name === field.name ? value : own] as [string, string],
          );
          const { status, type, text } = await post(rehearsing(), action, `${new URLSearchParams(members)}`);
          const where = `${kindOf(action)} ${field.name}=${JSON.stringify(value.slice(0, 40))}`;
          expect(status, where).to.be.oneOf([200, 303, 400, 403, 404, 409, 429]);
          if (status !== 303) expect(type, where).to.match(/^text\/html/);
          expect(text, where).not.to.include('<script>window');
        }
    expect(troublesOf(api).map(({ text }) => text)).to.deep.equal([]);
  });

  it('refuse a form that is none, too large, or for another method', async () => {
    for (const { action } of crawledBy(rehearsing()).forms.filter(isOwn)) {
      expect((await post(rehearsing(), action, `x=${'y'.repeat(HUGE)}`)).status, action).to.equal(413);
      expect((await post(rehearsing(), action, '')).status, action).to.be.oneOf([400, 403, 404]);
      expect((await post(rehearsing(), action, 'once=1&once=2')).status, action).to.be.oneOf([400, 403, 404]);
      const other = await call(api.origin + action, { method: 'PUT', headers: cookieOf(rehearsing()) });
      expect([other.status, other.headers.get('content-type')], action).to.deep.equal([
        405,
        'text/html; charset=utf-8',
      ]);
    }
  });
});
