import { expect } from 'chai';
import { resendFailed } from '../../../dev/support/use-cases.ts';
import { call, startTestApi, type TestApi, type TestMerchant, UNKNOWN_ID } from '../../support/gateway.ts';

const SINCE = '2026-11-20T09:30:00Z';
const EVERY_MS = 100;

type Endpoint = { readonly id: string; readonly merchant: TestMerchant };

describe('POST /webhook-endpoints/:id/resend-failed', function () {
  this.timeout(20_000);
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const sql = async <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    await api.deps.orm.em.fork().execute<T[]>(text, values);
  const newEndpoint = async (): Promise<Endpoint> => {
    const merchant = await api.newMerchant();
    const body = { url: 'http://127.0.0.1:9/hook', events: '*' };
    const made = await call(`${api.url}/webhook-endpoints`, { key: merchant.keys.test, body });
    return { id: made.body['id'], merchant };
  };
  const resend = ({ id, merchant }: Endpoint, body: unknown = { since: SINCE }, key = merchant.keys.test) =>
    call(`${api.url}/webhook-endpoints/${id}/resend-failed`, { key, body });
  /** Rows as deliveries leave them, a second apart from `from` on: the actor is another part. */
  const addDeliveries = async (
    endpoint: Endpoint,
    count: number,
    status: string,
    from = '2026-11-20T10:00:00Z',
  ) => {
    await sql(
      `with made as (
         insert into events (id, merchant_id, mode, type, subject_id, sequence, body, occurred_at, created_at)
         select id_of_event(at, 'deposit.completed', subject, 1), ?, 'test', 'deposit.completed', subject, 1,
           '{}', at, at
         from (select gen_random_uuid() as subject, ?::timestamptz + n * interval '1 second' as at
           from generate_series(1, ?) n) facts
         returning id, created_at)
       insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, next_attempt_at,
         created_at, finished_at)
       select id_of_delivery(id, ?::uuid), id, ?, 'deposit.completed', ?::text, 1,
         case when ?::text = 'pending' then created_at end, created_at,
         case when ?::text <> 'pending' then created_at + interval '81 seconds' end from made`,
      [endpoint.merchant.id, from, count, endpoint.id, endpoint.id, status, status, status],
    );
  };
  type Row = {
    id: string;
    status: string;
    round: number;
    next_attempt_at: string | null;
    finished_at: string | null;
  };
  const rowsOf = (endpoint: Endpoint) =>
    sql<Row>(
      'select id, status, round, next_attempt_at, finished_at from webhook_deliveries where endpoint_id = ? order by created_at, id',
      [endpoint.id],
    );
  const startsOf = (rows: readonly Row[]) =>
    sql<{ workflow_id: string; message: Record<string, unknown>; next_try_at: string }>(
      `select workflow_id, message, next_try_at from outbox
        where message->'args'->0->'deliveries'->>0 in (${rows.map(() => '?').join(', ')})`,
      rows.map(({ id }) => id),
    );

  it('starts a new round of what failed, the oldest first, each at a time of its own', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 30, 'failed');
    const began = Date.now();
    expect((await resend(endpoint)).body).to.deep.equal({ resent: 30, has_more: false });
    const rows = await rowsOf(endpoint);
    expect(
      rows.every(
        ({ status, round, finished_at }) => status === 'pending' && round === 2 && finished_at === null,
      ),
    ).to.equal(true);
    const times = rows.map(({ next_attempt_at: at }) => Date.parse(String(at)));
    expect(times[0]).to.be.within(began, Date.now());
    expect(times.map((at) => at - (times[0] ?? 0))).to.deep.equal(times.map((_, place) => place * EVERY_MS));
    const starts = await startsOf(rows);
    expect(starts).to.have.length(30);
    for (const row of rows) {
      const start = starts.find(({ workflow_id: id }) => id === `resend:${row.id}:2`);
      expect(start?.message).to.deep.equal({
        workflowType: 'notify',
        args: [{ deliveries: [row.id] }],
        attributes: { MerchantId: endpoint.merchant.id },
        owner: { merchantId: endpoint.merchant.id, mode: 'test' },
        summary: 'resend of deposit.completed, round 2',
      });
      expect(new Date(String(start?.next_try_at)).getTime()).to.equal(
        Date.parse(String(row.next_attempt_at)),
      );
    }
  });

  it('takes 1,000 by one call and says that there are more; the next call goes on behind them', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 1_003, 'failed');
    expect((await resend(endpoint)).body).to.deep.equal({ resent: 1_000, has_more: true });
    expect((await rowsOf(endpoint)).map(({ status }) => status)).to.deep.equal([
      ...Array(1_000).fill('pending'),
      ...Array(3).fill('failed'),
    ]);
    expect((await resend(endpoint)).body).to.deep.equal({ resent: 3, has_more: false });
    const times = (await rowsOf(endpoint)).map(({ next_attempt_at: at }) => Date.parse(String(at)));
    expect(times.map((at) => at - (times[0] ?? 0))).to.deep.equal(times.map((_, place) => place * EVERY_MS));
    expect((await resend(endpoint)).body).to.deep.equal({ resent: 0, has_more: false });
  });

  it('resends each once when it is called many times at once', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 50, 'failed');
    const answers = await Promise.all(Array.from({ length: 6 }, () => resend(endpoint)));
    expect(answers.map(({ body }) => body['resent']).sort()).to.deep.equal([0, 0, 0, 0, 0, 50]);
    const rows = await rowsOf(endpoint);
    expect(rows.every(({ round }) => round === 2)).to.equal(true);
    expect(await startsOf(rows)).to.have.length(50);
  });

  it('leaves alone what succeeded, what is on its way, what failed before, and other endpoints', async () => {
    const [endpoint, other] = [await newEndpoint(), await newEndpoint()];
    await addDeliveries(endpoint, 2, 'succeeded');
    await addDeliveries(endpoint, 2, 'pending');
    await addDeliveries(other, 2, 'failed');
    // Made before the time and failed after it: still lost in the outage that the merchant means.
    await addDeliveries(endpoint, 1, 'failed', '2026-11-20T09:29:00Z');
    await addDeliveries(endpoint, 1, 'failed', '2026-11-20T09:28:00Z');
    const before = [await rowsOf(endpoint), await rowsOf(other)].flat().filter(({ round }) => round === 1);
    expect((await resend(endpoint, { since: '2026-11-20T11:30:00+02:00' })).body).to.deep.equal({
      resent: 1,
      has_more: false,
    });
    const after = [await rowsOf(endpoint), await rowsOf(other)].flat();
    expect(after.filter(({ round }) => round === 2)).to.have.length(1);
    expect(before).to.deep.include.members(after.filter(({ round }) => round === 1));
  });

  for (const [name, body] of Object.entries({
    'no body': undefined,
    'no since': {},
    'null as since': { since: null },
    'a number as since': { since: 1_763_630_000 },
    'a day as since': { since: '2026-11-20' },
    'a time without a zone': { since: '2026-11-20T09:30:00' },
    'a day that does not exist': { since: '2026-02-30T09:30:00Z' },
    'a year before 1970': { since: '1969-01-01T00:00:00Z' },
    'a list as since': { since: [SINCE] },
  })) {
    it(`answers 400 for ${name}`, async () => {
      const endpoint = await newEndpoint();
      await addDeliveries(endpoint, 1, 'failed');
      const answer = await call(`${api.url}/webhook-endpoints/${endpoint.id}/resend-failed`, {
        method: 'POST',
        key: endpoint.merchant.keys.test,
        ...(body === undefined ? {} : { body }),
      });
      expect([answer.status, answer.body['code']], answer.text).to.deep.equal([400, 'VALIDATION_ERROR']);
      expect((await rowsOf(endpoint))[0]).to.include({ status: 'failed', round: 1 });
    });
  }

  it('answers 404 to another merchant, the other mode, an unknown and a deleted endpoint, and 400 for a disabled one', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 1, 'failed');
    const other = await api.newMerchant();
    for (const key of [endpoint.merchant.keys.live, other.keys.test, other.keys.live])
      expect((await resend(endpoint, { since: SINCE }, key)).status).to.equal(404);
    for (const id of [UNKNOWN_ID, 'x']) expect((await resend({ ...endpoint, id })).status).to.equal(404);
    const at = `${api.url}/webhook-endpoints/${endpoint.id}`;
    const key = endpoint.merchant.keys.test;
    await call(at, { key, method: 'PUT', body: { enabled: false } });
    const disabled = await resend(endpoint);
    expect([disabled.status, disabled.body['error']]).to.deep.equal([
      400,
      'The webhook endpoint is disabled. Enable it first.',
    ]);
    await call(at, { key, method: 'DELETE' });
    expect((await resend(endpoint)).status).to.equal(404);
    expect((await rowsOf(endpoint))[0]).to.include({ status: 'failed', round: 1 });
  });

  it('begins at once again when the earlier ones have had their first attempt', async () => {
    const endpoint = await newEndpoint();
    const scope = {
      merchantId: endpoint.merchant.id,
      mode: 'test' as const,
      id: endpoint.id,
      since: new Date(SINCE),
    };
    await addDeliveries(endpoint, 20, 'failed');
    await resendFailed(api.deps, scope);
    await sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at) select id, round, 1, now()
        from webhook_deliveries where endpoint_id = ?`,
      [endpoint.id],
    );
    await addDeliveries(endpoint, 1, 'failed', '2026-11-20T12:00:00Z');
    const began = Date.now();
    await resendFailed(api.deps, scope);
    expect(Date.parse(String((await rowsOf(endpoint)).at(-1)?.next_attempt_at))).to.be.within(
      began,
      Date.now(),
    );
  });
});
