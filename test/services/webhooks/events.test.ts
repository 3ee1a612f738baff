import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createCustomer,
  createEndpoint,
  deleteEndpoint,
  updateEndpoint,
} from '../../../dev/support/use-cases.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { type NewEvent, recordEvents } from '../../../src/services/webhooks/events.ts';
import { getEvent } from '../../../src/services/webhooks/reads.ts';
import { type Bench, startDeliveries, type Target } from './support.ts';

const AT = new Date('2026-11-22T10:00:00.123Z');

describe('events', function () {
  this.timeout(60_000);
  let bench: Bench;
  let customers = 0;
  before(async () => {
    bench = await startDeliveries();
  });
  after(() => bench?.stop());

  const merchant = async () =>
    (await createMerchant(bench.deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  const endpoint = async (merchantId: string, events = ['*'], mode: 'live' | 'test' = 'test') => {
    const input = { merchantId, mode, url: 'https://1.1.1.1/hook', events, description: null };
    return (await createEndpoint(bench.deps, input)).id;
  };

  describe('that are recorded together', () => {
    const event = (merchantId: string, more: Partial<NewEvent> = {}): NewEvent => {
      const subjectId = randomUUID();
      const what = { type: 'customer.created', subjectId, sequence: 1, data: { id: subjectId } } as const;
      return { merchantId, mode: 'test', ...what, occurredAt: AT, ...more };
    };
    const record = (events: readonly NewEvent[]) =>
      bench.deps.orm.em.fork().transactional((em) => recordEvents(em, bench.deps, events));
    const receiversOf = async (deliveryIds: readonly string[] = []): Promise<string[]> => {
      const rows = await bench.sql<{ id: string; endpoint_id: string }>(
        'select id, endpoint_id from webhook_deliveries',
      );
      return rows
        .filter(({ id }) => deliveryIds.includes(id))
        .map((row) => row.endpoint_id)
        .sort();
    };

    it('are answered in their order, each with the deliveries to its own subscribers', async () => {
      const [one, other] = [await merchant(), await merchant()];
      const all = await endpoint(one);
      const some = await endpoint(one, ['customer.created']);
      await endpoint(one, ['payment.completed']);
      await endpoint(one, ['*'], 'live');
      const foreign = await endpoint(other);
      const events = [event(one), event(other), event(one, { type: 'deposit.detected' }), event(one)];
      const recorded = await record(events);
      const receivers = await Promise.all(recorded.map(({ deliveryIds }) => receiversOf(deliveryIds)));
      expect(receivers).to.deep.equal([[all, some].sort(), [foreign], [all], [all, some].sort()]);
      const stored = await bench.sql<{ id: string; subject_id: string }>('select id, subject_id from events');
      const subjects = recorded.map(({ eventId }) => stored.find((row) => row.id === eventId)?.subject_id);
      expect(subjects).to.deep.equal(events.map(({ subjectId }) => subjectId));
    });

    it('hold the exact characters of their bodies, whatever is in them', async () => {
      const data = { name: 'ü€ 🙂 "quoted" \\ \u0000 \ud800 \u2028', deep: [{ a: null, b: 1.5 }] };
      const [recorded] = await record([event(await merchant(), { data })]);
      const [row] = await bench.sql<{ body: Buffer }>('select body from events where id = ?', [
        recorded?.eventId,
      ]);
      expect(row?.body.toString('utf8')).to.equal(
        JSON.stringify({ event: 'customer.created', data, timestamp: '2026-11-22T10:00:00Z' }),
      );
    });

    it('are recorded once, also twice in one set, and a known one makes no delivery', async () => {
      const merchantId = await merchant();
      await endpoint(merchantId);
      const [known, twice, fresh] = [event(merchantId), event(merchantId), event(merchantId)];
      await record([known]);
      const recorded = await record([known, twice, twice, fresh]);
      const counts = recorded.map(
        ({ eventId, deliveryIds }) => `${eventId === '' ? 'none' : 'new'} ${deliveryIds.length}`,
      );
      const [first, second = '', third = '', last] = counts;
      expect([first, [second, third].sort(), last]).to.deep.equal(['none 0', ['new 1', 'none 0'], 'new 1']);
      const stored = await bench.sql('select id from events where merchant_id = ?', [merchantId]);
      expect(stored).to.have.length(3);
    });

    it('go to a named endpoint alone or beside the others, and wait at a disabled one', async () => {
      const merchantId = await merchant();
      const [all, named] = [await endpoint(merchantId), await endpoint(merchantId, ['payment.completed'])];
      const disabled = await endpoint(merchantId);
      await updateEndpoint(bench.deps, { merchantId, mode: 'test', id: disabled, enabled: false });
      const [only, also] = await record([
        event(merchantId, { onlyEndpointId: named }),
        event(merchantId, { alsoEndpointId: named }),
      ]);
      expect(await receiversOf(only?.deliveryIds)).to.deep.equal([named]);
      expect(await receiversOf(also?.deliveryIds)).to.deep.equal([all, named].sort());
      const missed = await bench.sql<{ event_id: string }>(
        `select event_id from webhook_deliveries where endpoint_id = ? and status = 'failed'`,
        [disabled],
      );
      expect(missed.map((row) => row.event_id)).to.deep.equal([also?.eventId]);
    });
  });

  describe('while an endpoint is disabled', () => {
    const happen = async (target: Target): Promise<void> => {
      customers += 1;
      const names = { externalId: `user-${customers}`, email: null, name: null, metadata: {} };
      await createCustomer(bench.deps, { ...target.scope, ...names });
    };
    const disable = ({ scope, endpointId: id }: Target) =>
      updateEndpoint(bench.deps, { ...scope, id, enabled: false });
    const rowsOf = (endpointId: string) =>
      bench.sql<{ id: string; event_id: string; status: string; next: unknown; ended: boolean }>(
        `select d.id, d.event_id, d.status, d.next_attempt_at as next, d.finished_at is not null as ended
         from webhook_deliveries d where d.endpoint_id = ? and d.event_type = 'customer.created'
           order by d.created_at, d.id`,
        [endpointId],
      );

    it('are shown as deliveries that failed without an attempt, and kept for no other endpoint', async () => {
      const target = await bench.target(200);
      const { merchantId } = target.scope;
      await disable(target);
      const [other, live, gone] = [
        await endpoint(merchantId, ['deposit.completed']),
        await endpoint(merchantId, ['*'], 'live'),
        await endpoint(merchantId),
      ];
      for (const id of [other, gone])
        await updateEndpoint(bench.deps, { ...target.scope, id, enabled: false });
      await updateEndpoint(bench.deps, { merchantId, mode: 'live', id: live, enabled: false });
      await deleteEndpoint(bench.deps, { ...target.scope, id: gone });
      await happen(target);
      for (const id of [other, live, gone]) expect(await rowsOf(id)).to.deep.equal([]);
      const [row] = await rowsOf(target.endpointId);
      const { deliveries } = await getEvent(bench.deps, { ...target.scope, id: row?.event_id ?? '' });
      expect(deliveries).to.have.length(1);
      const failed = { status: 'failed', attempts: [], next_attempt_at: null };
      expect(deliveries[0]).to.deep.include({ endpoint_id: target.endpointId, ...failed });
    });
  });
});
