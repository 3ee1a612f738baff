import { expect } from 'chai';
import { createEndpoint } from '../../../dev/support/use-cases.ts';
import { refreshMetrics } from '../../../src/app/figures.ts';
import { createMetrics } from '../../../src/app/metrics.ts';
import { type AlarmKind, readAlarms } from '../../../src/services/alarms/alarms.ts';
import { listStuck } from '../../../src/services/deposits/stuck.ts';
import { noteFailedRun, noteGoodRun, registerLoops } from '../../../src/services/loop-runs.ts';
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
    await shop.sql('delete from outbox');
    await shop.sql('delete from loop_runs');
    await chainAt(5, 0);
  });

  const count = async (kind: AlarmKind) =>
    (await readAlarms(shop.deps)).find((alarm) => alarm.kind === kind)?.count;
  const alarm = async (kind: AlarmKind) => (await readAlarms(shop.deps)).find((one) => one.kind === kind);
  const stuck = async (id: string) => (await listStuck(shop.deps)).find((row) => row.deposit_id === id);

  /** The chain as a watcher that is well would have written it just now. */
  async function chainAt(head: number, final: number): Promise<void> {
    await shop.scanned('bsc', shop.clock.now);
    await shop.sql('update chain_cursors set reread_number = 0, anchored_number = 0');
    await shop.sql(
      `insert into chain_blocks (network, number, hash, parent_hash, mined_at)
       values ('bsc', ?, '0x', '0x', ?)
       on conflict (network, number) do update set mined_at = excluded.mined_at`,
      [head, shop.clock.now],
    );
    await shop.sql(
      `update chain_cursors set head_number = ?, scanned_number = ?, finalized_number = ?, reread_number = ?,
         anchored_number = ?,
         moved_at = ?, finalized_moved_at = ?, scanned_moved_at = ?, verified_moved_at = ?, polled_at = ?
           where network = 'bsc'`,
      [head, head, final, final, final, ...Array.from({ length: 5 }, () => shop.clock.now)],
    );
    await shop.sql(
      `insert into balance_rounds (network, started_number, started_at, agreed_number, checked)
                    values ('bsc', 1, ?, 1, 0)
                    on conflict (network) do update set started_at = excluded.started_at`,
      [shop.clock.now],
    );
  }

  it('are none while all is well', async () => {
    await shop.pay(customer, { coins: '1', block: 5, state: 'detected' });
    expect((await readAlarms(shop.deps)).map(({ count }) => count)).to.deep.equal([
      0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]);
  });

  it('count a deposit that waits too long although nobody wrote it down', async () => {
    const id = await shop.pay(customer, { coins: '1', block: 5, state: 'detected' });
    shop.pass(HOUR);
    await chainAt(5, 0);
    expect((await shop.deposit(id)).alarmedAt).to.equal(null);
    expect(await count('deposits')).to.equal(1);
    expect((await stuck(id))?.reason).to.match(/^0 of 15 confirmations/);
  });

  it('count a credited deposit whose block was replaced', async () => {
    const id = await shop.pay(customer, { coins: '1', block: 5 });
    expect(await count('deposits')).to.equal(0);
    await shop.sql('update deposits set block_hash = null where id = ?', [id]);
    expect(await count('deposits')).to.equal(1);
    expect((await stuck(id))?.action).to.contain(`deposit fail ${id}`);
    await shop.sql('update deposits set block_hash = ? where id = ?', [HASH, id]);
  });

  it('count a deposit whose actor does not take the step that the chain permits, after five minutes', async () => {
    const id = await shop.pay(customer, { coins: '1', block: 5, state: 'detected' });
    shop.pass(4 * MINUTE);
    await chainAt(50, 0);
    expect(await count('deposits')).to.equal(0);
    shop.pass(MINUTE);
    await chainAt(50, 0);
    expect(await count('deposits')).to.equal(1);
    expect(await stuck(id)).to.include({ action: 'run "repair" to start its actor again' });
    await shop.move(id, 'confirming');
    await shop.sql('update deposits set verified_at = ? where id = ?', [shop.clock.now, id]);
    shop.pass(6 * MINUTE);
    await chainAt(50, 4);
    expect(await count('deposits'), 'its block is not final').to.equal(0);
    await chainAt(50, 50);
    expect(await count('deposits')).to.equal(1);
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
    await shop.sql("update payment_links set status = 'cancelled', sequence = sequence + 1 where id = ?", [
      link.id,
    ]);
  });

  it('count webhooks that nobody tried when they were due, after five minutes', async () => {
    await createEndpoint(shop.deps, {
      merchantId: shop.merchantId,
      mode: 'live',
      url: 'http://127.0.0.1:9/',
      events: ['*'],
      description: null,
    });
    await shop.customer();
    shop.pass(4 * MINUTE);
    expect(await count('webhooks')).to.equal(0);
    shop.pass(2 * MINUTE);
    expect(await alarm('webhooks')).to.include({
      count: 1,
      urgent: false,
      reason: '1 webhooks were not tried when they were due, the oldest for 360 s',
    });
    await shop.sql(`update webhook_deliveries set next_attempt_at = ?`, [
      new Date(shop.clock.now.getTime() + 7_200_000),
    ]);
    expect(await count('webhooks'), 'the next attempt is in two hours').to.equal(0);
    await shop.sql(`update webhook_deliveries set next_attempt_at = ?`, [new Date(0)]);
    await shop.sql(`update webhook_deliveries set status = 'failed'`);
    expect(await count('webhooks')).to.equal(0);
    await shop.sql('update webhook_endpoints set deleted_at = now()');
  });

  it('name a chain on which blocks come and none becomes final, with the next action', async () => {
    await chainAt(500, 390);
    await shop.sql('update chain_cursors set finalized_moved_at = ?', [
      new Date(shop.clock.now.getTime() - 181_000),
    ]);
    const found = await alarm('chain');
    expect(found).to.include({ count: 1, urgent: true });
    expect(found?.reason).to.match(/^the finality of bsc stands at 390 for 181 s: blocks come up to 500/);
    expect(found?.action).to.contain('add one that tells which block is final');
    await chainAt(480, 390);
    await shop.sql('update chain_cursors set finalized_moved_at = ?', [
      new Date(shop.clock.now.getTime() - 181_000),
    ]);
    expect(await count('chain'), 'as far behind as it always is').to.equal(0);
  });

  it('name a part of a chain that stands, with height, time and the next action', async () => {
    await chainAt(70, 60);
    await shop.sql(
      `update chain_cursors set finalized_number = 65, verified_moved_at = ? where network = 'bsc'`,
      [new Date(shop.clock.now.getTime() - 45_000)],
    );
    const found = await alarm('chain');
    expect(found).to.include({ count: 1, urgent: true });
    expect(found?.reason).to.match(/^the second read of bsc stands at 60 for 45 s/);
    expect(found?.action).to.not.equal('');
  });

  it('name a chain whose endpoints show no new block, where it is one that never rests', async () => {
    await chainAt(70, 70);
    await shop.sql(`update chain_cursors set moved_at = ?`, [new Date(shop.clock.now.getTime() - 300_000)]);
    expect(await count('chain')).to.equal(0);
    Object.assign(shop.deps.settings, { headMovesWithinMs: 300_000 });
    try {
      expect((await alarm('chain'))?.reason).to.equal(
        'the first read of bsc stands at 70 for 300 s: its endpoints show no block after 70',
      );
    } finally {
      Object.assign(shop.deps.settings, { headMovesWithinMs: undefined });
    }
  });

  it('name a chain that was never read although somebody may pay on it, and none of a fresh installation', async () => {
    const settings = {
      ...shop.deps.settings,
      payments: { ...shop.deps.settings.payments, watchedNetworks: ['tron' as const] },
    };
    const never = async () =>
      (await readAlarms({ ...shop.deps, settings })).find(({ kind }) => kind === 'chain');
    shop.pass(MINUTE);
    expect((await never())?.reason).to.match(/^the first read of tron stands at 0 for .*: it was never read/);
    await shop.sql(`update deposit_addresses set mode = 'test'`);
    try {
      expect((await never())?.count).to.equal(0);
    } finally {
      await shop.sql(`update deposit_addresses set mode = 'live'`);
    }
  });

  it('count a balance that was searched and differs from the ledger, in each process', async () => {
    const metrics = createMetrics({ defaults: false });
    const [{ address, address_key: key }] = (await shop.sql(
      `select address, address_key from deposit_addresses where network = 'bsc' limit 1`,
    )) as [{ address: string; address_key: string }];
    await shop.sql(
      `insert into balance_differences (network, address_key, currency, address, chain_units,
         difference_units, replaced_units, known_units,
         before_units, since_number, found_number, searched, noted_at, reason)
           values ('bsc', ?, 'USDT', ?, 5, 5, 0, 0, 0, 1, 2, true, ?, 'x')`,
      [key, address, shop.clock.now],
    );
    try {
      expect(await alarm('balances')).to.include({
        count: 1,
        urgent: false,
        reason: '1 balance differs from the ledger',
      });
      await refreshMetrics({ deps: shop.deps, metrics });
      expect(await metrics.registry.metrics()).to.include('gateway_balance_differences{network="bsc"} 1');
      await shop.sql('update balance_differences set before_units = 5');
      expect(await count('balances')).to.equal(0);
    } finally {
      await shop.sql('delete from balance_differences');
    }
  });

  it('tell the age of the oldest message to an actor, and what Temporal refuses for good', async () => {
    await shop.pay(customer, { coins: '1', block: 5, state: 'detected' });
    shop.pass(30);
    await chainAt(5, 0);
    expect(await count('outbox')).to.equal(0);
    shop.pass(31);
    await chainAt(5, 0);
    expect((await alarm('outbox'))?.reason).to.equal('a message to an actor waits for 61 s');
    await shop.sql(`update outbox set quarantined_at = ?, refusals = 10, last_error = 'no such attribute'`, [
      shop.clock.now,
    ]);
    expect((await alarm('outbox'))?.reason).to.match(
      /^Temporal refuses 1 messages for good, the first to deposit:.*: no such attribute$/,
    );
  });

  it('name a loop that has not run well for a few of its turns, also one that never ran', async () => {
    await registerLoops(shop.deps, [
      { name: 'quick', everyMs: 1_000 },
      { name: 'slow', everyMs: 600_000 },
    ]);
    shop.pass(2 * MINUTE);
    expect((await alarm('loops'))?.reason).to.equal('"quick" has not run well for 120 s');
    await noteGoodRun(shop.deps, 'quick');
    expect(await count('loops')).to.equal(0);
    await noteFailedRun(shop.deps, 'slow', 'deadlock');
    shop.pass(40 * MINUTE);
    await noteGoodRun(shop.deps, 'quick');
    expect((await alarm('loops'))?.reason).to.equal('"slow" has not run well for 2520 s: deadlock');
  });

  it('hide none of the others when one cannot be read, and neither do the metrics', async () => {
    const metrics = createMetrics({ defaults: false });
    const value = async (name: string) =>
      (await metrics.registry.metrics()).match(new RegExp(`^${name} (.*)$`, 'm'))?.[1];
    const id = await shop.pay(customer, { coins: '1', block: 5 });
    await shop.sql('update deposits set block_hash = null where id = ?', [id]);
    await refreshMetrics({ deps: shop.deps, metrics });
    expect(await value('gateway_needs_operator')).to.equal('1');
    await shop.sql('alter table outbox rename to elsewhere');
    try {
      expect(await count('outbox')).to.equal(undefined);
      await chainAt(77, 0);
      await refreshMetrics({ deps: shop.deps, metrics });
    } finally {
      await shop.sql('alter table elsewhere rename to outbox');
    }
    expect(await value('gateway_scan_height{network="bsc"}')).to.equal('77');
    expect(await value('gateway_verified_height{network="bsc"}')).to.equal('0');
    expect(await value('gateway_needs_operator')).to.equal('1');
    expect(await value('gateway_metrics_unread_total{part="outbox"}')).to.equal('1');
    await shop.sql('update deposits set block_hash = ? where id = ?', [HASH, id]);
  });
});
