import { expect } from 'chai';
import { apiOf, call } from '../../support/gateway.ts';
import { endpointCallsOf } from './endpoint-calls.ts';

const URL_OK = 'http://127.0.0.1:9/hook';

describe('deliveries to webhook endpoints over HTTP', () => {
  const api = apiOf();
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

  /** An endpoint of a merchant of its own, and what is done with it. */
  const newEndpoint = async (events: unknown) => {
    const { keys } = await api.newMerchant();
    const { id } = (await create({ url: URL_OK, events }, keys.test)).body;
    const ask = (path: string, method = 'POST') => call(`${api.url}${path}`, { key: keys.test, method });
    const test = () => ask(`/webhook-endpoints/${id}/test`);
    const disable = () => put(id, { enabled: false }, keys.test);
    return { id, key: keys.test, ask, test, disable };
  };

  it('sends a test event to the endpoint alone, subscribed or not', async () => {
    const { id, key, ask, test, disable } = await newEndpoint(['customer.created']);
    await create({ url: URL_OK, events: '*' }, key);
    const { status, body } = await test();
    expect([status, body['event'], body['deliveries'].length]).to.deep.equal([201, 'webhook.test', 1]);
    const [delivery] = body['deliveries'];
    expect(delivery).to.include({ endpoint_id: id, status: 'pending' });
    expect((await test()).body['id']).to.not.equal(body['id']);
    expect((await ask(`/events/${body['id']}`, 'GET')).body).to.deep.equal(body);
    const [row] = await sql(`select message from outbox where workflow_id = ?`, [`event:${body['id']}`]);
    const names = { [delivery.id]: 'webhook.test → 127.0.0.1:9' };
    const started = { workflowType: 'notify', args: [{ deliveries: [delivery.id], names }] };
    expect(row?.['message']).to.deep.include(started);
    await disable();
    expect((await test()).status).to.equal(400);
  });

  it('resends a finished delivery as a new round and starts its actor, and refuses one on its way', async () => {
    const { id: endpoint, ask, test, disable } = await newEndpoint('*');
    const { id } = (await test()).body['deliveries'][0];
    const resend = () => ask(`/webhook-deliveries/${id}/resend`);
    expect((await resend()).status).to.equal(400);
    await finish(id, 'failed');
    const answers = await Promise.all(Array.from({ length: 8 }, resend));
    const [again, ...others] = answers.sort((a, b) => a.status - b.status);
    expect([again?.status, others.map(({ status }) => status)]).to.deep.equal([200, Array(7).fill(400)]);
    expect(again?.body).to.include({ id, status: 'pending' });
    expect(again?.body['attempts']).to.have.length(1);
    const starts = await sql(`select workflow_id from outbox where workflow_id like ?`, [`resend:${id}%`]);
    expect(starts).to.deep.equal([{ workflow_id: `resend:${id}:2` }]);
    await finish(id, 'succeeded');
    const filter = 'status=succeeded&event=webhook.test';
    const listed = await ask(`/webhook-endpoints/${endpoint}/deliveries?${filter}`, 'GET');
    const { attempts } = listed.body['data'][0];
    expect(attempts.map(({ round }: { round: number }) => round)).to.deep.equal([1, 2]);
    expect(attempts[0]).to.include({ number: 1, status_code: 503, error: 'HTTP 503', duration_ms: 12 });
    await disable();
    expect((await resend()).status).to.equal(400);
  });
});
