import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type FreshDatabase, migratedDatabase } from '../../../dev/support/parts.ts';
import { createEndpoint, updateEndpoint } from '../../../dev/support/use-cases.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { type NewEvent, recordEvents } from '../../../src/services/webhooks/events.ts';
import { testDeps } from '../../support/gateway.ts';

const AT = new Date('2026-11-22T10:00:00.123Z');

describe('events that are recorded together', function () {
  this.timeout(60_000);
  let database: FreshDatabase;
  let deps: Deps;
  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, []);
  });
  after(async () => {
    await deps?.orm.close(true);
    await database?.drop();
  });

  const merchant = async () =>
    (await createMerchant(deps, { name: 'Shop', subscriptionActive: true })).merchantId;
  const endpoint = async (
    merchantId: string,
    events: readonly string[],
    mode: 'live' | 'test' = 'test',
  ): Promise<string> =>
    (
      await createEndpoint(deps, {
        merchantId,
        mode,
        url: 'https://1.1.1.1/hook',
        events: [...events],
        description: null,
      })
    ).id;
  const event = (merchantId: string, more: Partial<NewEvent> = {}): NewEvent => {
    const subjectId = randomUUID();
    return {
      merchantId,
      mode: 'test',
      type: 'customer.created',
      subjectId,
      sequence: 1,
      data: { id: subjectId },
      occurredAt: AT,
      ...more,
    };
  };
  const record = (events: readonly NewEvent[]) =>
    deps.orm.em.fork().transactional((em) => recordEvents(em, deps, events));
  const receiversOf = async (deliveryIds: readonly string[]): Promise<string[]> => {
    const rows = await deps.orm.em.fork().execute<{ endpoint_id: string }[]>(
      `select endpoint_id from webhook_deliveries
          where id in (${['null', ...deliveryIds.map(() => '?')].join(', ')})`,
      [...deliveryIds],
    );
    return rows.map((row) => row.endpoint_id).sort();
  };

  it('are answered in their order, each with the deliveries to its own subscribers', async () => {
    const [one, other] = [await merchant(), await merchant()];
    const all = await endpoint(one, ['*']);
    const some = await endpoint(one, ['customer.created']);
    await endpoint(one, ['payment.completed']);
    await endpoint(one, ['*'], 'live');
    const foreign = await endpoint(other, ['*']);
    const events = [event(one), event(other), event(one, { type: 'deposit.detected' }), event(one)];
    const recorded = await record(events);
    const receivers = await Promise.all(recorded.map(({ deliveryIds }) => receiversOf(deliveryIds)));
    expect(receivers).to.deep.equal([[all, some].sort(), [foreign], [all], [all, some].sort()]);
    const stored = await deps.orm.em
      .fork()
      .execute<{ id: string; subject_id: string }[]>('select id, subject_id from events');
    const subjects = recorded.map(({ eventId }) => stored.find((row) => row.id === eventId)?.subject_id);
    expect(subjects).to.deep.equal(events.map(({ subjectId }) => subjectId));
  });

  it('hold the exact characters of their bodies, whatever is in them', async () => {
    const merchantId = await merchant();
    const data = { name: 'ü€ 🙂 "quoted" \\ \u0000 \ud800 \u2028', deep: [{ a: null, b: 1.5 }] };
    const [recorded] = await record([event(merchantId, { data })]);
    const [row] = await deps.orm.em
      .fork()
      .execute<{ body: Buffer }[]>('select body from events where id = ?', [recorded?.eventId]);
    expect(row?.body.toString('utf8')).to.equal(
      JSON.stringify({ event: 'customer.created', data, timestamp: '2026-11-22T10:00:00Z' }),
    );
  });

  it('are recorded once, also twice in one set, and a known one makes no delivery', async () => {
    const merchantId = await merchant();
    await endpoint(merchantId, ['*']);
    const [known, twice, fresh] = [event(merchantId), event(merchantId), event(merchantId)];
    await record([known]);
    const recorded = await record([known, twice, twice, fresh]);
    const counts = recorded.map(
      ({ eventId, deliveryIds }) => `${eventId === '' ? 'none' : 'new'} ${deliveryIds.length}`,
    );
    expect(counts[0]).to.equal('none 0');
    expect(counts.slice(1, 3)).to.have.members(['new 1', 'none 0']);
    expect(counts[3]).to.equal('new 1');
    const rows = await deps.orm.em
      .fork()
      .execute('select id from events where merchant_id = ?', [merchantId]);
    expect(rows).to.have.length(3);
  });

  it('go to a named endpoint alone or beside the others, and wait at a disabled one', async () => {
    const merchantId = await merchant();
    const [all, named] = [
      await endpoint(merchantId, ['*']),
      await endpoint(merchantId, ['payment.completed']),
    ];
    const disabled = await endpoint(merchantId, ['*']);
    await updateEndpoint(deps, { merchantId, mode: 'test', id: disabled, enabled: false });
    const [only, also] = await record([
      event(merchantId, { onlyEndpointId: named }),
      event(merchantId, { alsoEndpointId: named }),
    ]);
    expect(await receiversOf(only?.deliveryIds ?? [])).to.deep.equal([named]);
    expect(await receiversOf(also?.deliveryIds ?? [])).to.deep.equal([all, named].sort());
    const missed = await deps.orm.em
      .fork()
      .execute<{ event_id: string }[]>(
        `select event_id from webhook_deliveries where endpoint_id = ? and status = 'failed'`,
        [disabled],
      );
    expect(missed.map((row) => row.event_id)).to.deep.equal([also?.eventId]);
  });
});
