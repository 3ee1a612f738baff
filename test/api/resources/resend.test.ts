import { expect } from 'chai';
import { apiOf, call, type TestMerchant } from '../../support/gateway.ts';

const SINCE = '2026-11-20T09:30:00Z';
const EVERY_MS = 100;

type Endpoint = { readonly id: string; readonly merchant: TestMerchant };

describe('POST /webhook-endpoints/:id/resend-failed', function () {
  this.timeout(20_000);
  const api = apiOf();

  const sql = async <T = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    await api.deps.orm.em.fork().execute<T[]>(text, values);
  const newEndpoint = async (): Promise<Endpoint> => {
    const merchant = await api.newMerchant();
    const body = { url: 'http://127.0.0.1:9/hook', events: '*' };
    const made = await call(`${api.url}/webhook-endpoints`, { key: merchant.keys.test, body });
    return { id: made.body['id'], merchant };
  };
  const resend = ({ id, merchant }: Endpoint, body: unknown = { since: SINCE }) =>
    call(`${api.url}/webhook-endpoints/${id}/resend-failed`, { key: merchant.keys.test, body });
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
  type Row = Record<'id' | 'status' | 'next_attempt_at' | 'finished_at', string | null> & { round: number };
  const rowsOf = (endpoint: Endpoint) =>
    sql<Row>('select * from webhook_deliveries where endpoint_id = ? order by created_at, id', [endpoint.id]);
  const startsOf = (rows: readonly Row[]) =>
    sql<{ workflow_id: string; message: object; next_try_at: string }>(
      `select * from outbox
        where message->'args'->0->'deliveries'->>0 in (${rows.map(() => '?').join(', ')})`,
      rows.map(({ id }) => id),
    );
  const timesOf = (rows: readonly Row[]) => rows.map(({ next_attempt_at: at }) => Date.parse(String(at)));
  /** Each has a time of its own, behind the one before. */
  const expectPaced = (rows: readonly Row[]) => {
    const times = timesOf(rows);
    expect(times.map((at) => at - (times[0] ?? 0))).to.deep.equal(times.map((_, place) => place * EVERY_MS));
  };

  it('starts one new round of what failed, however often it is called at once, the oldest first, each at a time of its own', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 30, 'failed');
    const began = Date.now();
    const answers = await Promise.all(Array.from({ length: 6 }, () => resend(endpoint)));
    expect(answers.map(({ body }) => body['resent']).sort()).to.deep.equal([0, 0, 0, 0, 0, 30]);
    const rows = await rowsOf(endpoint);
    for (const row of rows) expect(row).to.include({ status: 'pending', round: 2, finished_at: null });
    expect(timesOf(rows)[0]).to.be.within(began, Date.now());
    expectPaced(rows);
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
    expectPaced(await rowsOf(endpoint));
    expect((await resend(endpoint)).body).to.deep.equal({ resent: 0, has_more: false });
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

  it('answers 400 for a time that is none, and for a disabled endpoint, and 404 for a deleted one', async () => {
    const endpoint = await newEndpoint();
    await addDeliveries(endpoint, 1, 'failed');
    for (const since of [undefined, 1_763_630_000, '2026-11-20T09:30:00', '2026-02-30T09:30:00Z']) {
      const answer = await resend(endpoint, { since });
      expect([answer.status, answer.body['code']], answer.text).to.deep.equal([400, 'VALIDATION_ERROR']);
    }
    const at = `${api.url}/webhook-endpoints/${endpoint.id}`;
    const key = endpoint.merchant.keys.test;
    await call(at, { key, method: 'PUT', body: { enabled: false } });
    const disabled = await resend(endpoint);
    const sentence = 'The webhook endpoint is disabled. Enable it first.';
    expect([disabled.status, disabled.body['error']]).to.deep.equal([400, sentence]);
    await call(at, { key, method: 'DELETE' });
    expect((await resend(endpoint)).status).to.equal(404);
    expect((await rowsOf(endpoint))[0]).to.include({ status: 'failed', round: 1 });
  });
});
