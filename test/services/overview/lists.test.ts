import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { createEndpoint, sendTestEvent } from '../../../dev/support/use-cases.ts';
import type { PageOf } from '../../../src/services/lists/page.ts';
import type { PageRequest } from '../../../src/services/lists/query.ts';
import {
  getMerchantPayout,
  listMerchantPayouts,
} from '../../../src/services/payouts/shown/merchant-reads.ts';
import { eventInFull, listEvents } from '../../../src/services/webhooks/shown/event-reads.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

/** Every id of a list, walked through by cursor in one direction, in the order of the list. */
async function walked(list: (page: PageRequest) => Promise<PageOf<{ readonly id: string }>>, limit: number) {
  const ids: string[] = [];
  for (let after: string | undefined; ; ) {
    const { rows, hasMore } = await list({ limit, startingAfter: after });
    ids.push(...rows.map(({ id }) => id));
    after = ids.at(-1);
    if (!hasMore) return ids;
  }
}

describe('events and payouts in lists', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customerId: string;
  before(async () => {
    shop = await startShop();
    customerId = await shop.customer();
    for (let count = 0; count < 4; count += 1) {
      shop.pass(40);
      const network = count % 2 === 0 ? ('bsc' as const) : ('tron' as const);
      const id = await shop.pay(customerId, { coins: `${count + 1}`, network });
      if (count < 3) await shop.move(id, 'settled');
    }
  });
  after(() => shop?.stop());
  const scope = () => ({ merchantId: shop.merchantId, mode: 'live' as const });

  it('has every event once, newest first, by cursor both ways and by page, whatever its type', async () => {
    const all = await listEvents(shop.deps, { ...scope(), page: { limit: 100 } });
    const stored = await shop.sql<{ id: string }>('select id from events order by created_at desc, id desc');
    expect(all.rows.map(({ id }) => id)).to.deep.equal(stored.map(({ id }) => id));
    expect([all.total, all.totalIsAtLeast]).to.deep.equal([stored.length, false]);
    for (const limit of [1, 3, 100])
      expect(await walked((page) => listEvents(shop.deps, { ...scope(), page }), limit)).to.deep.equal(
        stored.map(({ id }) => id),
      );
    const second = await listEvents(shop.deps, { ...scope(), page: { limit: 3, page: 2 } });
    expect(second.rows.map(({ id }) => id)).to.deep.equal(stored.slice(3, 6).map(({ id }) => id));
    const back = await listEvents(shop.deps, { ...scope(), page: { limit: 2, endingBefore: stored[3]?.id } });
    expect(back.rows.map(({ id }) => id)).to.deep.equal(stored.slice(1, 3).map(({ id }) => id));
  });

  it('filters events by type and by subject', async () => {
    const completed = await listEvents(shop.deps, {
      ...scope(),
      type: 'deposit.completed',
      page: { limit: 100 },
    });
    expect([completed.total, new Set(completed.rows.map(({ event }) => event)).size]).to.deep.equal([4, 1]);
    const [deposit] = completed.rows;
    const own = { ...scope(), subjectId: deposit?.subject_id };
    expect((await listEvents(shop.deps, { ...own, page: { limit: 100 } })).total).to.be.at.least(3);
    const both = await listEvents(shop.deps, { ...own, type: 'deposit.completed', page: { limit: 100 } });
    expect(both.rows).to.deep.equal([deposit]);
    expect(
      (await listEvents(shop.deps, { ...scope(), mode: 'test', page: { limit: 100 } })).rows,
    ).to.deep.equal([]);
  });

  it('gives the very bytes of an event that are signed', async () => {
    const endpoint = await createEndpoint(shop.deps, {
      ...scope(),
      url: 'http://127.0.0.1:9/hooks',
      events: ['*'],
      description: null,
    });
    const { id } = await sendTestEvent(shop.deps, { ...scope(), id: endpoint.id });
    const { event, body, deliveries } = await eventInFull(shop.deps, { ...scope(), id });
    const [stored] = await shop.sql<{ body: Buffer }>('select body from events where id = ?', [id]);
    const hash = (bytes: Uint8Array) => createHmac('sha256', endpoint.secret).update(bytes).digest('hex');
    expect(hash(body)).to.equal(hash(stored?.body ?? Buffer.alloc(0)));
    expect(JSON.parse(Buffer.from(body).toString('utf8'))).to.include({
      event: 'webhook.test',
      timestamp: event.timestamp,
    });
    expect(deliveries.map(({ url }) => url)).to.deep.equal([endpoint.url]);
  });

  it('has every payout once by cursor, and filters by state and network', async () => {
    const all = await listMerchantPayouts(shop.deps, { ...scope(), page: { limit: 100 } });
    expect([all.total, all.rows.map(({ network }) => network)]).to.deep.equal([3, ['bsc', 'tron', 'bsc']]);
    for (const limit of [1, 2])
      expect(
        await walked((page) => listMerchantPayouts(shop.deps, { ...scope(), page }), limit),
      ).to.deep.equal(all.rows.map(({ id }) => id));
    const count = async (filter: object) =>
      (await listMerchantPayouts(shop.deps, { ...scope(), ...filter, page: { limit: 100 } })).total;
    expect(await count({ network: 'tron' })).to.equal(1);
    expect(await count({ state: 'settled' })).to.equal(3);
    expect(await count({ state: 'failed' })).to.equal(0);
    expect(await count({ mode: 'test' })).to.equal(0);
    expect(await count({ createdFrom: new Date('2026-11-21T00:00:00Z') })).to.equal(0);
  });

  it('shows a payout with its deposits and what was sent for it, in a merchant’s words', async () => {
    const [newest] = (await listMerchantPayouts(shop.deps, { ...scope(), page: { limit: 1 } })).rows;
    const seen = await getMerchantPayout(shop.deps, { ...scope(), id: newest?.id ?? '' });
    expect(seen).to.deep.include({ ...newest, words: 'Paid to your withdraw address.', wait: null });
    expect(seen.deposits.map(({ amount, settled }) => [amount, settled])).to.deep.equal([['3', '3']]);
    expect(seen.transactions.length).to.equal(1);
    expect(seen.transactions[0]).to.deep.include({
      words: 'The payment to your withdraw address',
      state: 'final',
      transaction_hash: newest?.transaction_hash,
    });
  });
});
