import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, createEndpoint, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { atField } from '../../../src/web/dashboard/fields.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { errorAt, type Pages, signedInPages } from '../../support/http/pages.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/hook';
const LINKS = '/dashboard/test/links/new';
const SIMULATE = '/dashboard/test/simulate';
type Form = Readonly<Record<string, string>>;

describe('forms of the dashboard', function () {
  this.timeout(60_000);
  let api: TestApi;
  let merchantId: string;
  let pages: Pages;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.stop());
  beforeEach(async () => {
    merchantId = (await api.newMerchant()).id;
    pages = await signedInPages(api, merchantId);
  });

  const sql = <Row = Record<string, unknown>>(text: string, params: unknown[] = []) =>
    api.deps.orm.em.fork().execute<Row[]>(text, params);
  const rowsOf = async (table: string) =>
    await sql(`select * from ${table} where merchant_id = ?`, [merchantId]);
  const names = { email: null, name: null, metadata: {} };
  const newCustomer = async (mode: 'live' | 'test', of = merchantId) =>
    (await createCustomer(api.deps, { ...names, merchantId: of, mode, externalId: randomUUID() })).id;
  const newEndpoint = async (mode: 'live' | 'test') => {
    const endpoint = { merchantId, mode, url: NOWHERE, events: ['*'], description: null };
    return (await createEndpoint(api.deps, endpoint)).id;
  };

  it('refuse each field that is wrong at that field, and make and change nothing', async () => {
    const customer = await newCustomer('test');
    const [live, foreign] = [await newCustomer('live'), await newCustomer('test', api.merchant.id)];
    const endpoint = await newEndpoint('test');
    const link = { email: 'ann@example.com', amount_usd: '20', expires_in: '3600' };
    const registered = { url: NOWHERE, 'events.*': 'on' };
    const coins = {
      customer_id: customer,
      coin: 'bsc:USDT',
      amount: '10',
      outcome: 'completed',
      events: 'final',
    };
    const endpoints: readonly [field: string, members: Form][] = [
      ['url', { url: '' }],
      ['url', { url: 'javascript:alert(1)' }],
      ['url', { url: 'http://169.254.169.254/latest' }],
      ['events', { 'events.*': '', 'events.deposit.gone': 'on' }],
      ['description', { description: 'x'.repeat(501) }],
    ];
    const forms: Readonly<
      Record<string, readonly [good: Form, wrong: readonly [field: string, members: Form][]]>
    > = {
      [LINKS]: [
        link,
        [
          ['email', { email: 'ann' }],
          ['email', { customer_id: randomUUID() }],
          ['customer_id', { email: '', customer_id: foreign }],
          ...['', '-5', '12,50', '12.345', '9'.repeat(5_000)].map((amount): [string, Form] => [
            'amount_usd',
            { amount_usd: amount },
          ]),
          ['description', { description: 'x'.repeat(501) }],
          ['external_id', { external_id: 'x'.repeat(256) }],
          ['network', { network: 'bitcoin' }],
          ['expires_in', { expires_in: '99999999999' }],
          ['success_url', { success_url: 'javascript:alert(1)' }],
          ['cancel_url', { cancel_url: 'shop.example' }],
          ['webhook_url', { webhook_url: 'http://10.0.0.1/' }],
        ],
      ],
      '/dashboard/test/endpoints/new': [registered, endpoints],
      [`/dashboard/test/endpoints/${endpoint}/change`]: [registered, endpoints],
      [`/dashboard/test/endpoints/${endpoint}/resend-failed`]: [
        {},
        [
          ['since', { since: '' }],
          ['since', { since: '2026-13-40' }],
          ['since', { since: new Date().toISOString().slice(0, 10) }],
        ],
      ],
      [SIMULATE]: [
        coins,
        [
          ...['', randomUUID(), live, foreign].map((id): [string, Form] => [
            'customer_id',
            { customer_id: id },
          ]),
          ['coin', { coin: 'tron:BNB' }],
          ...['0', '1e9', '9'.repeat(99)].map((amount): [string, Form] => ['amount', { amount }]),
          ['outcome', { outcome: 'paid' }],
          ['events', { events: 'none' }],
          ['payment_token', { payment_token: 'pl_x' }],
        ],
      ],
    };
    const stored = async () =>
      JSON.stringify(
        await Promise.all(['payment_links', 'customers', 'webhook_endpoints', 'deposits'].map(rowsOf)),
      );
    const before = await stored();
    for (const [path, [good, wrong]] of Object.entries(forms))
      for (const [field, members] of wrong) {
        const sent = await pages.post(path, { ...good, ...members });
        const where = `${path} ${JSON.stringify(members).slice(0, 80)}`;
        expect([sent.status, typeof errorAt(sent, field)], where).to.deep.equal([400, 'string']);
      }
    expect((await pages.post(LINKS, { ...link, once: 'x' })).status).to.equal(400);
    expect((await pages.post('/dashboard/simulate', { ...coins, customer_id: live })).status).to.equal(404);
    expect((await pages.get('/dashboard/simulate')).status).to.equal(404);
    expect(await stored()).to.equal(before);
  });

  it('tell people in their words what is wrong, all of it in one pass', async () => {
    const sent = await pages.post(LINKS, {
      email: '',
      amount_usd: '0.01',
      expires_in: '3600',
      cancel_url: 'x',
    });
    const told = ['email', 'amount_usd', 'cancel_url'].map((field) => errorAt(sent, field));
    expect(told).to.deep.equal([
      'Give an email, or our id of a customer.',
      'The smallest amount of a payment link is 5 USD.',
      'Must be an absolute http or https URL.',
    ]);
    const nobody = await pages.post('/dashboard/test/customers/new', {
      external_id: '',
      email: '',
      name: '',
    });
    expect(errorAt(nobody, 'external_id')).to.equal('Give your own id or an email.');
    expect(atField('email or customer_id is required', 'email')).to.match(/^Email or customer_id/);
    expect(atField('email must be one', 'email')).to.equal('Must be one.');
  });

  it('take effect once, and not at all for the same form with other values', async () => {
    const once = randomUUID();
    const form = { once, email: 'ann@example.com', amount_usd: '20', expires_in: '3600' };
    const [first, second] = [await pages.post(LINKS, form), await pages.post(LINKS, form)];
    expect([first.status, second.status, second.location]).to.deep.equal([303, 303, first.location]);
    const other = await pages.post(LINKS, { ...form, amount_usd: '21' });
    expect(other.status).to.equal(409);
    expect(other.text).to.include('sent before with other values').and.to.include('value="21"');
    expect(
      [await rowsOf('payment_links'), await rowsOf('customers')].map((rows) => rows.length),
    ).to.deep.equal([1, 1]);
  });

  it('show each attempt with its answer, and send one or all that failed again, once', async () => {
    const id = await newEndpoint('test');
    const customerId = await newCustomer('test');
    const coins = { network: 'bsc', currency: 'USDT', amountUnits: 10n ** 18n } as const;
    await simulateDeposit(api.deps, {
      merchantId,
      customerId,
      ...coins,
      outcome: 'completed',
      events: 'full',
    });
    await sql(
      `update webhook_deliveries set status = 'failed', finished_at = now() where endpoint_id = ?
         and event_type = 'deposit.confirming'`,
      [id],
    );
    await sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, status_code, error,
         duration_ms)
       select d.id, 1, n, now(), now(), case when n = 1 then 503 end,
         case when n = 2 then 'the connection was refused: <b>127.0.0.1</b>, 84 ms' end, 84
       from webhook_deliveries d, generate_series(1, 2) n where d.endpoint_id = ? and d.status = 'failed'`,
      [id],
    );
    const log = `/dashboard/test/endpoints/${id}/deliveries`;
    expect((await pages.get(log)).text).to.include('Send what failed again');
    expect((await pages.get(`${log}?status=failed&event=deposit.confirming`)).text)
      .to.include('<strong>HTTP 503</strong> after 84 ms')
      .and.to.include('the connection was refused: &lt;b&gt;127.0.0.1&lt;/b&gt;, 84 ms')
      .and.to.include('Attempt 2')
      .and.to.include('1 delivery');
    for (const query of ['status=lost', 'event=x', 'limit=x'])
      expect((await pages.get(`${log}?${query}`)).status, query).to.equal(400);
    const [failed] = await sql<{ id: string }>(
      "select id from webhook_deliveries where endpoint_id = ? and status = 'failed'",
      [id],
    );
    const resend = `/dashboard/test/deliveries/${failed?.id}/resend`;
    const sent = { of: 'endpoints', once: randomUUID() };
    for (const answer of [await pages.post(resend, sent), await pages.post(resend, sent)])
      expect([answer.status, answer.location]).to.deep.equal([303, log]);
    const state = await sql('select round, status from webhook_deliveries where id = ?', [failed?.id]);
    expect(state).to.deep.equal([{ round: 2, status: 'pending' }]);
    const tooSoon = await pages.post(resend, { of: 'endpoints' });
    expect([tooSoon.status, /still on its way/.test(tooSoon.text)]).to.deep.equal([400, true]);
    await sql("update webhook_deliveries set status = 'failed', finished_at = now() where endpoint_id = ?", [
      id,
    ]);
    const since = new Date().toISOString().slice(0, 10);
    const all = await pages.post(`/dashboard/test/endpoints/${id}/resend-failed`, { since });
    expect([all.status, all.location]).to.deep.equal([303, `${log}?status=pending`]);
    const left = await sql("select 1 from webhook_deliveries where endpoint_id = ? and status = 'failed'", [
      id,
    ]);
    expect(left).to.deep.equal([]);
    expect((await pages.get(log)).text).not.to.include('Send what failed again');
    const nothing = await pages.post(`/dashboard/test/endpoints/${id}/resend-failed`, { since });
    expect(errorAt(nothing, 'since')).to.equal('Nothing has failed there since that day.');
  });
});
