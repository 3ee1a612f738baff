import { expect } from 'chai';
import { call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';
import { endpointCallsOf } from './endpoint-calls.ts';

const URL_OK = 'http://127.0.0.1:9/hook';

describe('deliveries to webhook endpoints over HTTP', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await startTestApi();
    key = api.keys.test;
  });
  after(() => api.stop());

  const { create, put, sql } = endpointCallsOf(() => api);
  /** As deliveries leave them: the actor is another part. */
  const finish = async (deliveryId: string, status: 'failed' | 'succeeded') => {
    await sql(
      `update webhook_deliveries set status = ?, finished_at = now(), next_attempt_at = null where id = ?`,
      [status, deliveryId],
    );
    await sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, status_code, error,
       duration_ms)
       select id, round, 1, now(), now(), 503, 'HTTP 503', 12 from webhook_deliveries where id = ?`,
      [deliveryId],
    );
  };

  it('sends a test event to the endpoint alone, subscribed or not', async () => {
    const { keys } = await api.newMerchant();
    const { body } = await create({ url: URL_OK, events: ['customer.created'] }, keys.test);
    await create({ url: URL_OK, events: '*' }, keys.test);
    const test = () =>
      call(`${api.url}/webhook-endpoints/${body['id']}/test`, { key: keys.test, method: 'POST' });
    const sent = await test();
    expect([sent.status, sent.body['event']]).to.deep.equal([201, 'webhook.test']);
    expect(sent.body['deliveries']).to.have.length(1);
    expect(sent.body['deliveries'][0]).to.include({ endpoint_id: body['id'], status: 'pending' });
    expect((await test()).body['id']).to.not.equal(sent.body['id']);
    expect((await call(`${api.url}/events/${sent.body['id']}`, { key: keys.test })).body).to.deep.equal(
      sent.body,
    );
    const [row] = await sql(`select message from outbox where workflow_id = ?`, [`event:${sent.body['id']}`]);
    expect(row?.['message']).to.deep.include({
      workflowType: 'notify',
      args: [
        {
          deliveries: [sent.body['deliveries'][0].id],
          names: { [sent.body['deliveries'][0].id]: 'webhook.test → 127.0.0.1:9' },
        },
      ],
    });
    await put(body['id'], { enabled: false }, keys.test);
    expect((await test()).status).to.equal(400);
  });

  it('resends a finished delivery as a new round and starts its actor, and refuses one on its way', async () => {
    const { keys } = await api.newMerchant();
    const { body } = await create({ url: URL_OK, events: '*' }, keys.test);
    const sent = await call(`${api.url}/webhook-endpoints/${body['id']}/test`, {
      key: keys.test,
      method: 'POST',
    });
    const id = sent.body['deliveries'][0].id;
    const resend = () =>
      call(`${api.url}/webhook-deliveries/${id}/resend`, { key: keys.test, method: 'POST' });
    expect((await resend()).status).to.equal(400);
    await finish(id, 'failed');
    const answers = await Promise.all(Array.from({ length: 8 }, resend));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([
      200,
      ...Array.from({ length: 7 }, () => 400),
    ]);
    const again = answers.find(({ status }) => status === 200);
    expect(again?.body).to.include({ id, status: 'pending' });
    expect(again?.body['attempts']).to.have.length(1);
    const starts = await sql(
      `select workflow_id from outbox where workflow_id like 'resend:%' and workflow_id like ?`,
      [`%${id}%`],
    );
    expect(starts).to.deep.equal([{ workflow_id: `resend:${id}:2` }]);
    await finish(id, 'succeeded');
    const deliveries = await call(
      `${api.url}/webhook-endpoints/${body['id']}/deliveries?status=succeeded&event=webhook.test`,
      {
        key: keys.test,
      },
    );
    const attempts = deliveries.body['data'][0].attempts;
    expect(attempts.map(({ round }: { round: number }) => round)).to.deep.equal([1, 2]);
    expect(attempts[0]).to.include({ number: 1, status_code: 503, error: 'HTTP 503', duration_ms: 12 });
    await put(body['id'], { enabled: false }, keys.test);
    expect((await resend()).status).to.equal(400);
  });

  it('refuses unknown filter values of deliveries', async () => {
    const { body } = await create({ url: URL_OK, events: '*' });
    for (const query of ['status=done', 'event=x', 'status=', 'limit=0', `starting_after=${UNKNOWN_ID}`]) {
      expect(
        (await call(`${api.url}/webhook-endpoints/${body['id']}/deliveries?${query}`, { key })).status,
        query,
      ).to.equal(400);
    }
  });
});
