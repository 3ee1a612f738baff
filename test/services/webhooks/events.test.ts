import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint, deleteEndpoint, updateEndpoint } from '../../../dev/support/use-cases.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { type NewEvent, recordEvents } from '../../../src/services/webhooks/events.ts';
import { type Bench, startDeliveries } from './support.ts';

const AT = new Date('2026-11-22T10:00:00.123Z');

describe('events', function () {
  this.timeout(60_000);
  let bench: Bench;
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
      await deleteEndpoint(bench.deps, { merchantId: one, mode: 'test', id: await endpoint(one) });
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
      const elsewhere = await endpoint(merchantId, ['*'], 'live');
      for (const [mode, id] of [['test', disabled] as const, ['live', elsewhere] as const])
        await updateEndpoint(bench.deps, { merchantId, mode, id, enabled: false });
      const [only, also] = await record([
        event(merchantId, { onlyEndpointId: named }),
        event(merchantId, { alsoEndpointId: named }),
      ]);
      expect(await receiversOf(only?.deliveryIds)).to.deep.equal([named]);
      expect(await receiversOf(also?.deliveryIds)).to.deep.equal([all, named].sort());
      const missed = await bench.sql<{ event_id: string; endpoint_id: string; next: unknown }>(
        `select event_id, endpoint_id, next_attempt_at as next from webhook_deliveries
          where status = 'failed'
            and endpoint_id in (select id from webhook_endpoints where merchant_id = ?)`,
        [merchantId],
      );
      expect(missed).to.deep.equal([{ event_id: also?.eventId, endpoint_id: disabled, next: null }]);
    });
  });
});
