import { expect } from 'chai';
import { cancelPaymentLink, createEndpoint } from '../../../dev/support/use-cases.ts';
import { lateLink, paymentLink } from '../../../src/contract/payment-link.ts';
import { NAMED_EVENTS } from '../../../src/domain/events.ts';
import type { ActorPort } from '../../../src/services/deps.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { repairDeliveries } from '../../../src/services/repair/deliveries.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

type Told = { type: string; sequence: number; data: Record<string, unknown>; receivers: string[] };

/** What a merchant is told of a link beside its completion. */
describe('what is told of a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  let [star, named, both] = ['', '', ''];
  before(async () => {
    const payments = { minimumCents: 500n, toleranceBasisPoints: 50n, watchedNetworks: ['bsc' as const] };
    shop = await startShop({ settings: { payments } });
    const url = 'http://127.0.0.1:9/';
    const endpoint = async (events: string[]) => {
      const input = { merchantId: shop.merchantId, mode: 'live' as const, url, events, description: null };
      return (await createEndpoint(shop.deps, input)).id;
    };
    star = await endpoint(['*']);
    named = await endpoint([...NAMED_EVENTS]);
    both = await endpoint(['*', 'payment.expired']);
  });
  after(() => shop?.stop());

  const told = async (linkId: string): Promise<Told[]> =>
    await shop.sql<Told>(
      `select type, sequence, convert_from(body, 'UTF8')::json->'data' as data,
         array(select endpoint_id from webhook_deliveries d where d.event_id = e.id) as receivers
       from events e where subject_id = ? order by sequence`,
      [linkId],
    );
  const names = async (linkId: string) =>
    (await told(linkId)).map(({ type }) => type.slice('payment.'.length));
  const sums = async (linkId: string) => (await told(linkId)).map(({ data }) => data['paid_amount_usd']);
  const newLink = async (more: object = {}) =>
    await shop.link({ customerId: await shop.customer(), ...more });
  const look = async (id: string) => await advancePaymentLink(shop.deps, { linkId: id });
  const cancel = async (id: string) =>
    await cancelPaymentLink(shop.deps, { merchantId: shop.merchantId, mode: 'live', id });
  /** How often its actor was asked to look at it. */
  const wakes = async (id: string) =>
    (await shop.sql('select 1 from outbox where workflow_id = ?', [`payment:${id}`])).length;

  it('is each part that it rests with, once for each sum, in the order of its numbers', async () => {
    const link = await newLink();
    await shop.pay(link.customer_id, { coins: '10' });
    await shop.pay(link.customer_id, { coins: '5' });
    const seen = await shop.pay(link.customer_id, { coins: '1', state: 'detected' });
    await shop.move(seen, 'failed', 'REORGED');
    const [one, two, ...more] = await told(link.id);
    expect(more, 'money that never counted changes no sum').to.deep.equal([]);
    expect([one?.type, two?.type]).to.deep.equal(['payment.partially_paid', 'payment.partially_paid']);
    expect(one?.data).to.include({ status: 'partially_paid', paid_amount_usd: 10, remaining_amount_usd: 15 });
    expect(two?.data).to.include({ paid_amount_usd: 15, remaining_amount_usd: 10, sequence: two?.sequence });
    expect(one?.receivers).to.deep.equal([named]);
    for (const event of [one, two]) paymentLink.parse(event?.data);
    await shop.pay(link.customer_id, { coins: '10' });
    expect(await names(link.id)).to.deep.equal(['partially_paid', 'partially_paid', 'completed']);
    const [, , paid] = await told(link.id);
    expect(paid?.receivers).to.have.members([star, both]);
  });

  it('is nothing while more is on its way, and then the sum alone', async () => {
    const link = await newLink();
    const slow = await shop.pay(link.customer_id, { coins: '5', state: 'confirming' });
    await shop.pay(link.customer_id, { coins: '10' });
    expect(await sums(link.id)).to.deep.equal([]);
    await shop.move(slow, 'completed');
    expect(await sums(link.id)).to.deep.equal([15]);
  });

  it('does not stand when a replaced block takes a part back: less is told, and the same sum again', async () => {
    const link = await newLink();
    const first = await shop.pay(link.customer_id, { coins: '10' });
    const second = await shop.pay(link.customer_id, { coins: '5' });
    const before = await wakes(link.id);
    await shop.move(second, 'failed', 'REORGED');
    expect(await sums(link.id)).to.deep.equal([10, 15, 10]);
    expect(await wakes(link.id), 'somebody has to send it').to.be.greaterThan(before);
    await shop.move(first, 'failed', 'REORGED');
    expect(await sums(link.id), 'nothing is paid in part by nothing').to.deep.equal([10, 15, 10]);
    expect(await shop.view(link.id)).to.include({ status: 'pending', paid_amount_usd: 0 });
    await shop.pay(link.customer_id, { coins: '10' });
    expect(await sums(link.id)).to.deep.equal([10, 15, 10, 10]);
    const numbers = (await told(link.id)).map(({ sequence }) => sequence);
    expect(numbers).to.deep.equal([1, 2, 3, 4]);
  });

  it('is that it expired, once, to those who named it, with what it was short of', async () => {
    const link = await newLink();
    await shop.pay(link.customer_id, { coins: '10' });
    shop.pass(3_601);
    await shop.scanned('bsc', new Date(shop.clock.now.getTime() + 1_000));
    const step = await look(link.id);
    await look(link.id);
    const [, expired, ...more] = await told(link.id);
    expect([expired?.type, more]).to.deep.equal(['payment.expired', []]);
    expect(expired?.data).to.include({ status: 'expired', amount_status: 'underpaid', paid_amount_usd: 10 });
    expect(expired?.receivers).to.have.members([named, both]);
    expect(step.kind === 'at' && step.deliveries.length, 'given to its actor').to.equal(3);
  });

  it('is that it was cancelled, once, and its actor sends it', async () => {
    const link = await newLink();
    const before = await wakes(link.id);
    await cancel(link.id);
    await cancel(link.id);
    const [cancelled, ...more] = await told(link.id);
    expect([cancelled?.type, cancelled?.receivers, more]).to.deep.equal(['payment.cancelled', [named], []]);
    expect(await wakes(link.id)).to.equal(before + 1);
    const step = await look(link.id);
    expect(step.kind === 'at' && step.deliveries.length).to.equal(1);
  });

  it('is each confirmed payment that came too late, with its deposit, and its actor begins again', async () => {
    const link = await newLink();
    await cancel(link.id);
    const before = await wakes(link.id);
    const late = await shop.pay(link.customer_id, { coins: '25', state: 'confirming' });
    expect(await names(link.id), 'what is only seen may vanish').to.deep.equal(['cancelled']);
    await shop.move(late, 'completed');
    const second = await shop.pay(link.customer_id, { coins: '25' });
    const [, one, two, ...more] = await told(link.id);
    expect([one?.type, two?.type, more]).to.deep.equal(['payment.late', 'payment.late', []]);
    for (const event of [one, two]) lateLink.parse(event?.data);
    const { transactionHash } = await shop.deposit(late);
    expect(one?.data).to.deep.include({
      status: 'cancelled',
      amount_status: 'late',
      transactions: [],
      late_payment: { deposit_id: late, transaction_hash: transactionHash, network: 'bsc', amount: '25' },
    });
    expect(two?.data['late_payment']).to.include({ deposit_id: second });
    expect(await wakes(link.id)).to.equal(before + 2);
  });

  it('keeps its number for ever, and is sent by the actor of the link, also when that was lost', async () => {
    const link = await newLink();
    await cancel(link.id);
    const back = shop.sql('update payment_links set event_sequence = 0 where id = ?', [link.id]);
    expect(String(await back.catch((error: Error) => error.message))).to.include('never falls');
    const started: string[] = [];
    const actors: ActorPort = {
      start: async (workflowId) => {
        started.push(workflowId);
      },
      wake: async () => undefined,
      running: async () => new Set(),
      isUnresponsive: async () => false,
    };
    await repairDeliveries({ ...shop.deps, actors });
    expect(started).to.include(`payment:${link.id}`);
    const [event] = await shop.sql<{ id: string }>('select id from events where subject_id = ?', [link.id]);
    expect(started, 'not by an actor of its own').to.not.include(`event:${event?.id}`);
  });
});
