import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { listStuck } from '../../../src/services/deposits/stuck.ts';
import { readAlarms } from '../../../src/services/operations/conditions/conditions.ts';
import { listOverdueLinks } from '../../../src/services/payment-links/overdue.ts';
import { testSettings } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const HASH = `0x${'ab'.repeat(32)}`;

/** No actor, no worker and no watcher lives here: whatever is seen is seen from rows. */
describe('alarms', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customer: string;
  before(async () => {
    const { payments } = testSettings();
    shop = await startShop({ settings: { payments: { ...payments, watchedNetworks: ['bsc'] } } });
  });
  after(() => shop?.stop());
  beforeEach(async () => {
    customer = await shop.customer();
    await shop.sql(`update deposits set status = 'failed', failure_code = 'REJECTED_BY_OPERATOR',
                    sequence = sequence + 1, payment_link_id = null
                    where status in ('detected', 'confirming')`);
    for (const table of ['outbox', 'loop_runs']) await shop.sql(`delete from ${table}`);
    await chainAt(5, 0);
  });

  const alarm = async (kind: string, deps = shop.deps) =>
    (await readAlarms(deps)).find((one) => one.kind === kind);
  const count = async (kind: string) => (await alarm(kind))?.count;
  const stuck = async (id: string) => (await listStuck(shop.deps)).find((row) => row.deposit_id === id);
  const seen = async () => await shop.pay(customer, { coins: '1', block: 5, state: 'detected' });
  const ago = (seconds: number) => new Date(shop.clock.now.getTime() - seconds * 1_000);

  /** The chain as a watcher that is well would have written it just now. */
  async function chainAt(head: number, final: number): Promise<void> {
    const now = shop.clock.now;
    await shop.scanned('bsc', now);
    await shop.sql(
      `insert into chain_blocks (network, number, hash, parent_hash, mined_at)
       values ('bsc', ?, '0x', '0x', ?)
       on conflict (network, number) do update set mined_at = excluded.mined_at`,
      [head, now],
    );
    const heights = { head_number: head, scanned_number: head, finalized_number: final };
    const read = { reread_number: final, anchored_number: final };
    const times = ['moved_at', 'finalized_moved_at', 'scanned_moved_at', 'verified_moved_at', 'polled_at'];
    const cursor = { ...heights, ...read, ...Object.fromEntries(times.map((name) => [name, now])) };
    await shop.sql('update chain_cursors set reread_number = 0, anchored_number = 0');
    const set = Object.keys(cursor).map((name) => `${name} = ?`);
    await shop.sql(`update chain_cursors set ${set} where network = 'bsc'`, Object.values(cursor));
    await shop.sql(
      `insert into balance_rounds (network, started_number, started_at, agreed_number, checked)
       values ('bsc', 1, ?, 1, 0) on conflict (network) do update set started_at = excluded.started_at`,
      [now],
    );
  }

  it('are none while all is well', async () => {
    await seen();
    expect((await readAlarms(shop.deps)).map((one) => one.count)).to.deep.equal(Array(9).fill(0));
  });

  it('count a deposit that waits too long although nobody wrote it down, and a credited one whose block was replaced', async () => {
    const id = await seen();
    shop.pass(HOUR);
    await chainAt(5, 0);
    expect((await shop.deposit(id)).alarmedAt).to.equal(null);
    expect(await count('deposits')).to.equal(1);
    expect((await stuck(id))?.reason).to.match(/^0 of 15 confirmations/);
    const credited = await shop.pay(customer, { coins: '1', block: 5 });
    await shop.sql('update deposits set block_hash = null where id = ?', [credited]);
    expect(await count('deposits')).to.equal(2);
    expect((await stuck(credited))?.action).to.contain(`deposit fail ${credited}`);
    await shop.sql('update deposits set block_hash = ? where id = ?', [HASH, credited]);
  });

  it('count a deposit whose actor does not take the step that the chain permits, after five minutes', async () => {
    const id = await seen();
    for (const [minutes, expected] of [
      [4, 0],
      [1, 1],
    ] as const) {
      shop.pass(minutes * MINUTE);
      await chainAt(50, 0);
      expect(await count('deposits')).to.equal(expected);
    }
    expect(await stuck(id)).to.include({ action: 'run "repair" to start its actor again' });
    await shop.move(id, 'confirming');
    await shop.sql('update deposits set verified_at = ? where id = ?', [shop.clock.now, id]);
    shop.pass(6 * MINUTE);
    for (const [final, expected] of [
      [4, 0],
      [50, 1],
    ] as const) {
      await chainAt(50, final);
      expect(await count('deposits'), `final up to ${final}`).to.equal(expected);
    }
  });

  it('count a payment link that cannot end because its chain is read no more', async () => {
    const link = await shop.link({ customerId: customer });
    shop.pass(3 * HOUR);
    expect(await count('payment_links')).to.equal(1);
    const [row] = await listOverdueLinks(shop.deps);
    expect(row).to.include({ payment_link_id: link.id, state: 'pending' });
    expect(row?.reason).to.match(/expires when bsc was read past/);
    expect(row?.action).to.match(/worker watches/);
    shop.pass(1);
    await chainAt(60, 60);
    expect((await listOverdueLinks(shop.deps))[0]?.action).to.equal('run "repair"');
    await shop.sql("update payment_links set status = 'cancelled', sequence = sequence + 1");
  });

  it('count webhooks that nobody tried when they were due, after five minutes', async () => {
    const scope = { merchantId: shop.merchantId, mode: 'live' as const };
    const url = 'http://127.0.0.1:9/';
    await createEndpoint(shop.deps, { ...scope, url, events: ['*'], description: null });
    await shop.customer();
    shop.pass(4 * MINUTE);
    expect(await count('webhooks')).to.equal(0);
    shop.pass(2 * MINUTE);
    const reason = '1 webhooks were not tried when they were due, the oldest for 360 s';
    expect(await alarm('webhooks')).to.include({ count: 1, urgent: false, reason });
    await shop.sql(`update webhook_deliveries set next_attempt_at = ?`, [ago(-2 * HOUR)]);
    expect(await count('webhooks'), 'the next attempt is in two hours').to.equal(0);
    await shop.sql('update webhook_endpoints set deleted_at = now()');
  });

  it('name a part of a chain that stands, with height, time and the next action', async () => {
    await chainAt(500, 390);
    const finality = () => shop.sql('update chain_cursors set finalized_moved_at = ?', [ago(181)]);
    await finality();
    const found = await alarm('chain');
    expect(found).to.include({ count: 1, urgent: true });
    expect(found?.reason).to.match(/^the finality of bsc stands at 390 for 181 s: blocks come up to 500/);
    expect(found?.action).to.contain('add one that tells which block is final');
    await chainAt(70, 60);
    await shop.sql('update chain_cursors set finalized_number = 65, verified_moved_at = ?', [ago(45)]);
    expect((await alarm('chain'))?.reason).to.match(/^the second read of bsc stands at 60 for 45 s/);
    await chainAt(70, 70);
    await shop.sql(`update chain_cursors set moved_at = ?`, [ago(300)]);
    expect(await count('chain'), 'a chain that may rest').to.equal(0);
    const restless = { ...shop.deps, settings: { ...shop.deps.settings, headMovesWithinMs: 300_000 } };
    expect((await alarm('chain', restless))?.reason).to.match(
      /^the first read of bsc stands at 70 for 300 s/,
    );
  });

  it('name a chain that was never read although somebody may pay on it, and none of a fresh installation', async () => {
    const payments = { ...shop.deps.settings.payments, watchedNetworks: ['tron' as const] };
    const unread = { ...shop.deps, settings: { ...shop.deps.settings, payments } };
    shop.pass(MINUTE);
    const never = /^the first read of tron stands at 0 for .*: it was never read/;
    expect((await alarm('chain', unread))?.reason).to.match(never);
    await shop.sql(`update deposit_addresses set mode = 'test'`);
    expect((await alarm('chain', unread))?.count).to.equal(0);
    await shop.sql(`update deposit_addresses set mode = 'live'`);
  });
});
