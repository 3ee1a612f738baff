import { expect } from 'chai';
import { PAGES } from '../../../src/web/dashboard/pages.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { pagesBy, type SentPage } from '../../support/http/pages.ts';
import { type Kind, makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

/** Every kind of thing that has an id of its own, and so could have a page. */
const KINDS: readonly Kind[] = ['customer', 'endpoint', 'event', 'delivery', 'deposit', 'link', 'balance'];
/** Forms that would be carried out with an id of one's own. */
const MEMBERS = { since: '2026-01-01', url: 'http://127.0.0.1:9/', 'events.*': 'on', of: 'links' };

describe('pages of one merchant and mode', function () {
  this.timeout(180_000);
  let api: TestApi;
  let tenants: Tenant[];
  before(async () => {
    api = await startTestApi();
    tenants = await makeTenants(api, 2);
  });
  after(() => api?.stop());

  it('answer an id of another one as an id that nobody has, to the byte, and change nothing', async () => {
    const rows = await rowsOf(api, tenants);
    const known = tenants.map((tenant) => needlesIn(JSON.stringify([tenant.values, tenant.spare])));
    const leaks: string[] = [];
    for (const own of tenants) {
      const base = own.mode === 'live' ? '/dashboard' : '/dashboard/test';
      const pages = pagesBy(api, own.callers.session['Cookie'] ?? '');
      const foreign = tenants.filter((tenant) => tenant !== own);
      const ofMode = ({ path, only }: { path: string; only?: string }) =>
        path.includes(':id') && (only === undefined || only === own.mode);
      const ask = [
        ...PAGES.reads.filter(ofMode).map(({ path }) => ({ path, send: pages.get })),
        ...PAGES.forms
          .filter(ofMode)
          .map(({ path }) => ({ path, send: (at: string) => pages.post(at, MEMBERS) })),
      ];
      for (const { path, send } of ask) {
        const at = (id: string) => base + path.replace(':id', id);
        const nobodys = await send(at(UNKNOWN_ID));
        expect(nobodys.status, `${path} of nobody`).to.equal(404);
        for (const other of foreign)
          for (const kind of KINDS) {
            const id = other.values[kind][0];
            if (id === undefined || own.values[kind].includes(id)) continue;
            const theirs = await send(at(id));
            if (!isSame(theirs, nobodys, id))
              leaks.push(`${own.name}: ${path} with a ${kind} of ${other.name}`);
          }
      }
      const lists = PAGES.reads.filter(({ path }) => !path.includes(':'));
      for (const { path } of lists.filter(({ only }) => only === undefined || only === own.mode)) {
        const { text } = await pages.get(base + path);
        const strange = [...needlesIn(text)].filter(
          (needle) => !known[own.index]?.has(needle) && known.some((texts) => texts.has(needle)),
        );
        if (strange.length > 0) leaks.push(`${own.name}: ${path} shows ${strange[0]}`);
      }
    }
    expect(leaks).to.deep.equal([]);
    expect(await rowsOf(api, tenants)).to.deep.equal(rows);
  });
});

function isSame(theirs: SentPage, nobodys: SentPage, id: string): boolean {
  return theirs.status === 404 && theirs.text.replaceAll(id, UNKNOWN_ID) === nobodys.text;
}
