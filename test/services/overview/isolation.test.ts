import { expect } from 'chai';
import { depositStory } from '../../../src/services/deposits/story/story.ts';
import { type ExportOf, exportCsv } from '../../../src/services/export/export.ts';
import { getCustomer } from '../../../src/services/merchants/customer-reads.ts';
import { readOverview } from '../../../src/services/overview/overview.ts';
import { paymentLinkStory } from '../../../src/services/payment-links/story.ts';
import { getMerchantPayout, listMerchantPayouts } from '../../../src/services/payouts/views.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import type { Scope } from '../../../src/services/scope.ts';
import { eventInFull, listEvents } from '../../../src/services/webhooks/shown/event-reads.ts';
import { endpointHealth } from '../../../src/services/webhooks/shown/health.ts';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { payOut } from '../../support/payout-rows.ts';
import { makeTenants, needlesIn, type Tenant } from '../../support/tenants.ts';

const MALFORMED = ['', 'nonsense', `${UNKNOWN_ID}0`, "' or 1=1 --", UNKNOWN_ID.replace('0', 'G')];

/** What each tenant sees by the reads of pages, asked with ids of every other one. */
describe('what pages read of one merchant and mode', function () {
  this.timeout(120_000);
  let api: TestApi;
  let tenants: Tenant[];
  const payouts = new Map<number, string[]>();
  before(async () => {
    api = await startTestApi();
    tenants = await makeTenants(api, 2);
    await sql("update deposits set verified_at = now() where status = 'completed' and mode = 'live'");
    for (const tenant of tenants) {
      const { mode, values, callers, index } = tenant;
      if (mode === 'live') for (const id of values.deposit) await payOut(api.deps, id);
      else {
        const body = { customer_id: values.customer[0], amount: '7', outcome: 'settled' };
        const answer = await call(`${api.url}/test/simulate-deposit`, { headers: callers.key, body });
        expect(answer.status).to.equal(201);
      }
      const { rows } = await listMerchantPayouts(api.deps, { ...scopeOf(tenant), page: { limit: 100 } });
      expect(rows.length, `payouts of ${tenant.name}`).to.be.greaterThan(0);
      payouts.set(
        index,
        rows.map(({ id }) => id),
      );
    }
  });
  after(() => api?.stop());

  const sql = (text: string, params: unknown[] = []) => api.deps.orm.em.fork().execute(text, params);
  const scopeOf = ({ merchantId, mode }: Tenant): Scope => ({ merchantId, mode });
  const others = (tenant: Tenant) => tenants.filter(({ index }) => index !== tenant.index);

  type Read = (input: Scope & { id: string }) => Promise<unknown>;
  const ONE: Readonly<Record<string, { ids: (tenant: Tenant) => readonly string[]; read: Read }>> = {
    deposit: { ids: ({ values }) => values.deposit, read: (input) => depositStory(api.deps, input) },
    link: { ids: ({ values }) => values.link, read: (input) => paymentLinkStory(api.deps, input) },
    customer: { ids: ({ values }) => values.customer, read: (input) => getCustomer(api.deps, input) },
    endpoint: { ids: ({ values }) => values.endpoint, read: (input) => endpointHealth(api.deps, input) },
    event: { ids: ({ values }) => values.event, read: (input) => eventInFull(api.deps, input) },
    payout: {
      ids: ({ index }) => payouts.get(index) ?? [],
      read: (input) => getMerchantPayout(api.deps, input),
    },
  };

  /** Everything that the product may have said of a tenant: no other one may read it. */
  const needlesOf = ({ values, index }: Tenant) =>
    new Set([...needlesIn(JSON.stringify(values)), ...(payouts.get(index) ?? [])]);
  function expectOwn(tenant: Tenant, text: string): void {
    for (const other of others(tenant))
      for (const needle of needlesOf(other))
        expect(text.includes(needle), `${tenant.name} reads ${needle} of ${other.name}`).to.equal(false);
  }
  const refusalOf = (work: Promise<unknown>) =>
    work.then(
      () => 'was read',
      (error: unknown) => (error instanceof Refusal ? `${error.code}: ${error.message}` : String(error)),
    );

  for (const what of Object.keys(ONE))
    it(`shows a ${what} to its own tenant alone, and every other id is the same 404`, async () => {
      const { ids, read } = ONE[what] ?? expect.fail();
      const unknown = await refusalOf(read({ ...scopeOf(tenants[0] as Tenant), id: UNKNOWN_ID }));
      expect(unknown).to.match(/^NOT_FOUND: There is no such/);
      for (const tenant of tenants) {
        for (const id of ids(tenant)) {
          const seen = await read({ ...scopeOf(tenant), id });
          expect(JSON.stringify(seen)).to.include(id);
          expectOwn(tenant, JSON.stringify(seen));
        }
        const foreign = others(tenant).flatMap(ids);
        expect(foreign.length).to.be.greaterThan(2);
        for (const id of [...foreign, ...MALFORMED])
          expect(await refusalOf(read({ ...scopeOf(tenant), id })), id).to.equal(unknown);
      }
    });

  it('lists and exports nothing of anybody else, also by a filter with an id of theirs', async () => {
    const { signal } = new AbortController();
    for (const tenant of tenants) {
      const scope = scopeOf(tenant);
      const texts = [JSON.stringify(await readOverview(api.deps, scope))];
      const exported = async (wanted: ExportOf) => {
        const pieces: string[] = [];
        for await (const piece of exportCsv((work) => work(api.deps), wanted, signal)) pieces.push(piece);
        return pieces.join('');
      };
      for (const list of ['deposits', 'customers', 'links', 'payouts', 'events'] as const)
        texts.push(await exported({ list, input: scope }));
      const text = texts.join('\n');
      for (const own of needlesOf(tenant))
        if (tenant.values.deposit.includes(own)) expect(text).to.include(own);
      expectOwn(tenant, text);
      for (const other of others(tenant)) {
        const [deposit = '', customerId = ''] = [other.values.deposit[0], other.values.customer[0]];
        const events = await listEvents(api.deps, { ...scope, subjectId: deposit, page: { limit: 10 } });
        expect([events.rows, events.total]).to.deep.equal([[], 0]);
        const lines = (await exported({ list: 'deposits', input: { ...scope, customerId } })).trim();
        expect(lines.split('\r\n').length, 'the names alone').to.equal(1);
      }
    }
  });

  it('takes the id of another tenant’s row for no place in a list', async () => {
    for (const tenant of tenants)
      for (const other of others(tenant)) {
        const page = (id = '') => ({ ...scopeOf(tenant), page: { limit: 10, startingAfter: id } });
        for (const work of [
          () => listEvents(api.deps, page(other.values.event[0])),
          () => listMerchantPayouts(api.deps, page(payouts.get(other.index)?.[0])),
        ])
          expect(await refusalOf(work())).to.match(/^INVALID/);
      }
  });
});
