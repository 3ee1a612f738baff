import { expect } from 'chai';
import { depositStory } from '../../../src/services/deposits/story/story.ts';
import { exportCsv } from '../../../src/services/export/export.ts';
import { customerOverview } from '../../../src/services/overview/customer.ts';
import { readOverview } from '../../../src/services/overview/overview.ts';
import { paymentLinkStory } from '../../../src/services/payment-links/story.ts';
import {
  getMerchantPayout,
  listMerchantPayouts,
} from '../../../src/services/payouts/shown/merchant-reads.ts';
import { Refusal } from '../../../src/services/refusal.ts';
import type { Scope } from '../../../src/services/scope.ts';
import { eventInFull, listEvents } from '../../../src/services/webhooks/shown/event-reads.ts';
import { endpointHealth } from '../../../src/services/webhooks/shown/health.ts';
import { startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { payOut } from '../../support/payout-rows.ts';
import { makeTenants, needlesIn, type Tenant } from '../../support/tenants.ts';

const MALFORMED = [
  '',
  'nonsense',
  `${UNKNOWN_ID}0`,
  "' or 1=1 --",
  UNKNOWN_ID.toUpperCase().replace('0', 'G'),
];

/** What each tenant sees by the reads of pages, asked with ids of every other one. */
describe('what pages read of one merchant and mode', function () {
  this.timeout(120_000);
  let api: TestApi;
  let tenants: Tenant[];
  const payouts = new Map<number, string[]>();
  before(async () => {
    api = await startTestApi();
    tenants = await makeTenants(api, 2);
    for (const tenant of tenants.filter(({ mode }) => mode === 'live')) {
      await sql("update deposits set verified_at = now() where status = 'completed'");
      for (const id of tenant.values.deposit) await payOut(api.deps, id);
    }
    for (const { customer, index } of tenants
      .filter(({ mode }) => mode === 'test')
      .map((one) => ({ ...one, customer: one.values.customer[0] })))
      await simulateSettled(tenants[index] as Tenant, String(customer));
    for (const tenant of tenants) {
      const { rows } = await listMerchantPayouts(api.deps, { ...scopeOf(tenant), page: { limit: 100 } });
      expect(rows.length, `payouts of ${tenant.name}`).to.be.greaterThan(0);
      payouts.set(
        tenant.index,
        rows.map(({ id }) => id),
      );
    }
  });
  after(() => api?.stop());

  const sql = (text: string, params: unknown[] = []) => api.deps.orm.em.fork().execute(text, params);
  const scopeOf = ({ merchantId, mode }: Tenant): Scope => ({ merchantId, mode });
  async function simulateSettled({ callers }: Tenant, customerId: string): Promise<void> {
    const answer = await fetch(`${api.url}/test/simulate-deposit`, {
      method: 'POST',
      headers: { ...callers.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ customer_id: customerId, amount: '7', outcome: 'settled' }),
    });
    expect(answer.status).to.be.within(200, 201);
  }

  const ONE: Readonly<
    Record<
      string,
      {
        ids: (tenant: Tenant) => readonly string[];
        read: (input: Scope & { id: string }) => Promise<unknown>;
      }
    >
  > = {
    deposit: { ids: ({ values }) => values.deposit, read: (input) => depositStory(api.deps, input) },
    link: { ids: ({ values }) => values.link, read: (input) => paymentLinkStory(api.deps, input) },
    customer: { ids: ({ values }) => values.customer, read: (input) => customerOverview(api.deps, input) },
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
    for (const other of tenants.filter(({ index }) => index !== tenant.index))
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
        const foreign = tenants.filter(({ index }) => index !== tenant.index).flatMap(ids);
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
      for (const wanted of [
        ...(['deposits', 'customers', 'links', 'payouts', 'events'] as const).map((list) => ({
          list,
          input: scope,
        })),
      ])
        for await (const piece of exportCsv((work) => work(api.deps), wanted, signal)) texts.push(piece);
      const text = texts.join('\n');
      for (const own of needlesOf(tenant))
        if (tenant.values.deposit.includes(own)) expect(text).to.include(own);
      expectOwn(tenant, text);
      for (const other of tenants.filter(({ index }) => index !== tenant.index)) {
        const [deposit = '', customerId = ''] = [other.values.deposit[0], other.values.customer[0]];
        const events = await listEvents(api.deps, { ...scope, subjectId: deposit, page: { limit: 10 } });
        expect([events.rows, events.total]).to.deep.equal([[], 0]);
        const wanted = { list: 'deposits', input: { ...scope, customerId } } as const;
        const lines: string[] = [];
        for await (const piece of exportCsv((work) => work(api.deps), wanted, signal)) lines.push(piece);
        expect(lines.join('').trim().split('\r\n').length, 'the names alone').to.equal(1);
      }
    }
  });

  it('takes the id of another tenant’s row for no place in a list', async () => {
    for (const tenant of tenants)
      for (const other of tenants.filter(({ index }) => index !== tenant.index)) {
        const page = (id: string | undefined) => ({ limit: 10, startingAfter: id });
        const [event, payout] = [other.values.event[0], payouts.get(other.index)?.[0]];
        expect(await refusalOf(listEvents(api.deps, { ...scopeOf(tenant), page: page(event) }))).to.match(
          /^INVALID/,
        );
        expect(
          await refusalOf(listMerchantPayouts(api.deps, { ...scopeOf(tenant), page: page(payout) })),
        ).to.match(/^INVALID/);
      }
  });
});
