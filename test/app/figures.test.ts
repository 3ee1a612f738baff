import { expect } from 'chai';
import { ownPostgres } from '../../dev/support/parts.ts';
import {
  createEndpoint,
  sendTestEvent,
  simulateDeposit,
  updateEndpoint,
} from '../../dev/support/use-cases.ts';
import { refreshMetrics } from '../../src/app/figures.ts';
import { createMetrics, type Metrics } from '../../src/app/metrics.ts';
import { openOrm } from '../../src/db/orm.ts';
import { readDueDeliveries } from '../../src/services/webhooks/waiting.ts';
import { testDeps } from '../support/gateway.ts';
import { type Shop, startShop } from '../support/payment-shop.ts';
import { valueIn } from '../support/repository/prometheus.ts';

const HOUR = 3_600;

const textOf = (metrics: Metrics) => metrics.registry.metrics();

describe('figures of the rows', function () {
  this.timeout(120_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());
  beforeEach(async () => {
    await shop.sql(`update deposits set status = 'failed', failure_code = 'REJECTED_BY_OPERATOR',
                    sequence = sequence + 1
                    where status in ('detected', 'confirming')`);
    await shop.sql('delete from webhook_deliveries');
  });

  const figures = async () => {
    const metrics = createMetrics({ defaults: false });
    await refreshMetrics({ deps: shop.deps, metrics });
    const text = await textOf(metrics);
    return { text, of: (series: string) => valueIn(text, series), metrics };
  };
  const money = (state: string, asset = 'USDT') =>
    `gateway_money{network="bsc",asset="${asset}",state="${state}"}`;

  it('tell live money by where its deposits stand, in whole units of the asset', async () => {
    const customer = await shop.customer();
    await shop.pay(customer, { coins: '0.25', state: 'detected' });
    await shop.pay(customer, { coins: '1', state: 'confirming' });
    await shop.pay(customer, { coins: '2', state: 'confirming' });
    await shop.pay(customer, { coins: '4', state: 'completed' });
    const held = await shop.pay(customer, { coins: '8', state: 'confirming' });
    await shop.move(held, 'failed', 'REJECTED_BY_OPERATOR');
    await shop.pay(customer, { coins: '16', state: 'failed' });
    const { of, text } = await figures();
    const told = ['detected', 'confirming', 'completed', 'settled', 'held'].map((state) => of(money(state)));
    expect(told).to.deep.equal([0.25, 3, 4, 0, 8]);
    expect(of('gateway_open_deposits{network="bsc",state="confirming"}')).to.equal(2);
    expect(of(money('completed', 'BNB'))).to.equal(0);
    expect([...text.matchAll(/^gateway_money\{/gm)]).to.have.length(4 * 5);
  });

  it('count no test money and no test deposit', async () => {
    // The parts are read side by side, so the order of their lines is chance.
    const linesOfMoney = (text: string) =>
      text.match(/^gateway_(?:money|open_deposits|deposit_waiting_oldest_seconds)\{.*$/gm)?.sort();
    const before = linesOfMoney((await figures()).text);
    expect(before).to.have.length(4 * 5 + 4 + 4);
    const customer = await shop.customer('test');
    for (const outcome of ['detected', 'completed'] as const)
      await simulateDeposit(shop.deps, {
        merchantId: shop.merchantId,
        customerId: customer,
        network: 'bsc',
        currency: 'USDT',
        amountUnits: 50n * 10n ** 18n,
        outcome,
        events: 'full',
      });
    const rows = await shop.sql<{ n: string }>(`select count(*) as n from deposits where mode = 'test'`);
    expect(String(rows[0]?.n)).to.equal('2');
    expect(linesOfMoney((await figures()).text)).to.deep.equal(before);
  });

  it('tell of registered endpoints that fail or were disabled for it, and never a name of theirs', async () => {
    const mine = { merchantId: shop.merchantId, mode: 'live' as const };
    const make = (path: string) =>
      createEndpoint(shop.deps, {
        ...mine,
        url: `http://127.0.0.1:9/${path}`,
        events: ['*'],
        description: null,
      });
    const [failing, disabled, off, gone] = await Promise.all(
      ['secret-a', 'secret-b', 'secret-c', 'secret-d'].map(make),
    );
    const sick = (id: string | undefined, failures: number, more = '') =>
      shop.sql(
        `update webhook_endpoints set consecutive_failures = ?, failing_since = now()${more} where id = ?`,
        [failures, id],
      );
    await sick(failing?.id, 7);
    await sick(disabled?.id, 900, `, enabled = false, disabled_reason = 'x'`);
    await sick(off?.id, 800);
    await updateEndpoint(shop.deps, { ...mine, id: off?.id ?? '', enabled: false });
    await sick(gone?.id, 700, ', deleted_at = now()');
    const link = await shop.link({
      customerId: await shop.customer(),
      webhookUrl: 'http://127.0.0.1:9/secret-link',
    } as never);
    await sick(link.id, 600);
    const { of, text } = await figures();
    expect(of('gateway_webhook_endpoints_unwell{mode="live",state="failing"}')).to.equal(1);
    expect(of('gateway_webhook_endpoints_unwell{mode="live",state="disabled"}')).to.equal(1);
    expect(of('gateway_webhook_endpoint_failures_max{mode="live"}')).to.equal(7);
    expect(of('gateway_webhook_endpoints_unwell{mode="test",state="failing"}')).to.equal(0);
    expect(text).to.not.contain('secret-').and.not.contain(failing?.id).and.not.contain(shop.merchantId);
  });

  it('tell webhooks that are due apart by mode', async () => {
    const scope = { merchantId: shop.merchantId, mode: 'test' as const };
    const { id } = await createEndpoint(shop.deps, {
      ...scope,
      url: 'http://127.0.0.1:9/',
      events: ['*'],
      description: null,
    });
    await sendTestEvent(shop.deps, { ...scope, id });
    shop.pass(90);
    expect(await readDueDeliveries(shop.deps)).to.deep.equal([
      { mode: 'live', count: 0, oldestMs: 0 },
      { mode: 'test', count: 1, oldestMs: 90_000 },
    ]);
    expect((await figures()).of('gateway_webhooks_due_oldest_seconds{mode="test"}')).to.equal(90);
  });

  it('answer in time with what can be read while a table is locked, and say which part is old', async () => {
    const { metrics } = await figures();
    const part = (name: string) => `{part="${name}"}`;
    const readBefore = valueIn(
      await textOf(metrics),
      `gateway_metrics_read_timestamp_seconds${part('open_deposits')}`,
    );
    const beside = await openOrm({
      url: shop.deps.orm.config.get('clientUrl') ?? '',
      poolSize: 1,
      applicationName: 'beside',
    });
    const em = beside.em.fork();
    await em.begin();
    await em.execute('lock table deposits in access exclusive mode');
    try {
      shop.pass(HOUR);
      await refreshMetrics({ deps: shop.deps, metrics });
    } finally {
      await em.rollback();
      await beside.close(true);
    }
    const text = await textOf(metrics);
    expect(valueIn(text, `gateway_metrics_unread_total${part('open_deposits')}`)).to.equal(1);
    expect(valueIn(text, `gateway_metrics_unread_total${part('alarms: deposits')}`)).to.equal(1);
    expect(valueIn(text, `gateway_metrics_read_timestamp_seconds${part('open_deposits')}`)).to.equal(
      readBefore,
    );
    for (const other of ['money', 'loops', 'outbox', 'endpoints']) {
      expect(valueIn(text, `gateway_metrics_unread_total${part(other)}`), other).to.equal(0);
      expect(valueIn(text, `gateway_metrics_read_timestamp_seconds${part(other)}`), other).to.equal(
        shop.clock.now.getTime() / 1_000,
      );
    }
  });
});

describe('figures of a process that cannot read them', function () {
  this.timeout(90_000);

  it('are none, instead of zeros that nobody has read; and say so', async () => {
    const postgres = await ownPostgres();
    const { url } = postgres.now;
    await postgres.stop();
    const deps = await testDeps(url, []);
    const metrics = createMetrics({ defaults: false });
    try {
      await refreshMetrics({ deps, metrics, mainOrm: deps.orm });
    } finally {
      await deps.orm.close(true);
    }
    const text = await textOf(metrics);
    const told = text
      .split('\n')
      .filter((line) => /^gateway_(?!metrics_|webhook_attempt_seconds|pool_)/.test(line));
    expect(told).to.deep.equal([]);
    const parts = ['money', 'open_deposits', 'heights', 'alarms', 'outbox', 'loops', 'webhooks', 'endpoints'];
    for (const part of parts)
      expect(valueIn(text, `gateway_metrics_read_timestamp_seconds{part="${part}"}`), part).to.equal(0);
    expect(valueIn(text, 'gateway_metrics_unread_total{part="money"}')).to.equal(1);
    expect(valueIn(text, 'gateway_pool_size{pool="main"}')).to.equal(10);
  });
});
