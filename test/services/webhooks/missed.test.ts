import { expect } from 'chai';
import {
  createCustomer,
  createEndpoint,
  deleteEndpoint,
  resendFailed,
  updateEndpoint,
} from '../../../dev/support/use-cases.ts';
import { getEndpoint } from '../../../src/services/webhooks/endpoints.ts';
import { getEvent } from '../../../src/services/webhooks/reads.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

type Row = {
  id: string;
  event_id: string;
  status: string;
  next_attempt_at: unknown;
  finished_at: unknown;
  attempts: number;
};

describe('what happens while an endpoint is disabled', function () {
  this.timeout(20_000);
  let bench: Bench;
  let customers = 0;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const happen = async (target: Target): Promise<void> => {
    customers += 1;
    await createCustomer(bench.deps, {
      ...target.scope,
      externalId: `user-${customers}`,
      email: null,
      name: null,
      metadata: {},
    });
  };
  const rowsOf = (endpointId: string) =>
    bench.sql<Row>(
      `select d.id, d.event_id, d.status, d.next_attempt_at, d.finished_at,
         (select count(*)::int from webhook_attempts a
           where a.delivery_id = d.id and a.round = d.round) as attempts
       from webhook_deliveries d where d.endpoint_id = ? and d.event_type = 'customer.created'
         order by d.created_at, d.id`,
      [endpointId],
    );

  for (const [name, disable, reason] of [
    [
      'by 410 answers',
      async (target: Target) => {
        for (let count = 0; count < 3; count += 1) {
          await bench.attempt(target);
          bench.pass(HOUR_MS);
        }
      },
      'it answered 410 Gone for an hour or more',
    ],
    [
      'by its merchant',
      (target: Target) =>
        updateEndpoint(bench.deps, { ...target.scope, id: target.endpointId, enabled: false }),
      null,
    ],
  ] as const) {
    it(`${name} arrives by one call after three days, with its own times and ids`, async () => {
      const target = await bench.target(410);
      await disable(target);
      expect(await bench.endpoint(target)).to.include({ enabled: false, disabled_reason: reason });
      const sentBefore = target.receiver.requests.length;
      const since = new Date(bench.now());
      const happened: string[] = [];
      for (let day = 0; day < 3; day += 1) {
        happened.push(new Date(bench.now()).toISOString().replace('.000Z', 'Z'));
        await happen(target);
        bench.pass(DAY_MS);
      }
      const missed = await rowsOf(target.endpointId);
      expect(
        missed.map(({ status, attempts, next_attempt_at: next }) => [status, attempts, next]),
      ).to.deep.equal(Array(3).fill(['failed', 0, null]));
      expect(missed.every(({ finished_at: at }) => at !== null)).to.equal(true);
      expect(
        await bench.sql('select 1 from outbox where workflow_id = ?', [`event:${missed[0]?.event_id}`]),
      ).to.deep.equal([]);
      target.receiver.setBehaviour(200);
      await bench.enable(target);
      expect(await resendFailed(bench.deps, { ...target.scope, id: target.endpointId, since })).to.deep.equal(
        {
          resent: 3,
          hasMore: false,
        },
      );
      bench.pass(1_000);
      for (const { id } of missed)
        expect(await bench.deliverId(id)).to.include({ kind: 'done', status: 'succeeded' });
      const arrived = target.receiver.requests.slice(sentBefore);
      expect(arrived.map(({ headers }) => headers['x-webhook-id'])).to.deep.equal(
        missed.map((row) => row.event_id),
      );
      expect(arrived.map(({ body }) => JSON.parse(body.toString()).timestamp)).to.deep.equal(happened);
      for (const { headers, body } of arrived) {
        const [stored] = await bench.sql<{ body: Buffer }>('select body from events where id = ?', [
          headers['x-webhook-id'],
        ]);
        expect(stored?.body.equals(body)).to.equal(true);
      }
      expect(await getEndpoint(bench.deps, { ...target.scope, id: target.endpointId })).to.include({
        consecutive_failures: 0,
      });
    });
  }

  it('is shown with its event as a delivery that failed without an attempt', async () => {
    const target = await bench.target(200);
    await updateEndpoint(bench.deps, { ...target.scope, id: target.endpointId, enabled: false });
    await happen(target);
    const [row] = await rowsOf(target.endpointId);
    const event = await getEvent(bench.deps, { ...target.scope, id: row?.event_id ?? '' });
    expect(event.deliveries).to.have.length(1);
    expect(event.deliveries[0]).to.deep.include({
      endpoint_id: target.endpointId,
      status: 'failed',
      attempts: [],
      next_attempt_at: null,
    });
  });

  it('is not kept for one that does not subscribe to it, of the other mode, or deleted', async () => {
    const target = await bench.target(200);
    const { deps } = bench;
    const make = (more: object) =>
      createEndpoint(deps, {
        ...target.scope,
        url: target.receiver.url,
        events: ['*'],
        description: null,
        ...more,
      });
    const [other, live, gone] = [
      await make({ events: ['deposit.completed'] }),
      await make({ mode: 'live' }),
      await make({}),
    ];
    for (const { id } of [other, gone]) await updateEndpoint(deps, { ...target.scope, id, enabled: false });
    await updateEndpoint(deps, { ...target.scope, mode: 'live', id: live.id, enabled: false });
    await deleteEndpoint(deps, { ...target.scope, id: gone.id });
    await happen(target);
    for (const { id } of [other, live, gone]) expect(await rowsOf(id)).to.deep.equal([]);
    expect(await rowsOf(target.endpointId)).to.have.length(1);
  });
});
