import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, simulateDeposit } from '../../../dev/support/use-cases.ts';
import { foldVolumes } from '../../../src/services/ledger/totals.ts';
import { dailyVolumes } from '../../../src/services/ledger/volumes.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const PARALLEL = 8;

describe('what was credited on each day', () => {
  let shop: Shop;
  let merchantId: string;
  let customerId: string;
  before(async () => {
    shop = await startShop({ poolSize: 12 });
  });
  beforeEach(async () => {
    shop.clock.now = new Date('2026-11-20T09:00:00Z');
    merchantId = (await shop.api.newMerchant()).id;
    customerId = await customer();
  });
  after(() => shop?.stop());
  const customer = async (mode: 'live' | 'test' = 'live'): Promise<string> => {
    const names = { externalId: randomUUID(), email: null, name: null, metadata: {} };
    return (await createCustomer(shop.deps, { merchantId, mode, ...names })).id;
  };

  const volumes = async (mode: 'live' | 'test' = 'live', of = merchantId) =>
    await dailyVolumes(shop.deps.orm.em.fork(), { merchantId: of, mode }, { now: shop.clock.now, days: 30 });
  /** The days on which something was credited, the same before and after a fold. */
  const credited = async (mode: 'live' | 'test' = 'live') => {
    const days = (await volumes(mode)).filter(({ deposits, amount_usd: usd }) => deposits !== 0 || usd !== 0);
    await foldVolumes(shop.deps);
    expect((await volumes(mode)).filter(({ deposits }) => deposits !== 0)).to.deep.equal(days);
    return days.map(({ day, deposits, amount_usd: usd }) => [day, deposits, usd]);
  };

  it('counts a deposit on the UTC day of its completion, not before, and once it is settled too', async () => {
    shop.clock.now = new Date('2026-11-20T23:59:59Z');
    const first = await shop.pay(customerId, { coins: '10.25', state: 'confirming' });
    expect(await credited()).to.deep.equal([]);
    await shop.move(first, 'completed');
    shop.pass(1);
    const second = await shop.pay(customerId, { coins: '3' });
    expect(await credited()).to.deep.equal([
      ['2026-11-20', 1, 10.25],
      ['2026-11-21', 1, 3],
    ]);
    await shop.move(second, 'settled');
    expect(await credited()).to.deep.equal([
      ['2026-11-20', 1, 10.25],
      ['2026-11-21', 1, 3],
    ]);
  });

  it('takes a withdrawn deposit back from the day that had it, and counts it again on the day of its return', async () => {
    const deposit = await shop.pay(customerId, { coins: '10' });
    await shop.pay(customerId, { coins: '4' });
    await foldVolumes(shop.deps);
    shop.pass(24 * 3_600);
    await shop.sql('update deposits set block_hash = null where id = ?', [deposit]);
    await shop.move(deposit, 'failed', 'REORGED');
    expect(await credited()).to.deep.equal([['2026-11-20', 1, 4]]);
    shop.pass(24 * 3_600);
    for (const state of ['detected', 'confirming', 'completed'] as const) await shop.move(deposit, state);
    expect(await credited()).to.deep.equal([
      ['2026-11-20', 1, 4],
      ['2026-11-22', 1, 10],
    ]);
  });

  it('is that of one merchant and mode', async () => {
    const tester = await customer('test');
    await simulateDeposit(shop.deps, {
      merchantId,
      customerId: tester,
      network: 'bsc',
      currency: 'USDT',
      amountUnits: 7n * 10n ** 18n,
      outcome: 'completed',
      events: 'final',
    });
    const other = await shop.api.newMerchant();
    expect(await credited('test')).to.deep.equal([['2026-11-20', 1, 7]]);
    expect(await credited('live')).to.deep.equal([]);
    expect((await volumes('test', other.id)).every(({ deposits }) => deposits === 0)).to.equal(true);
  });

  it('is exact while deposits are completed and days are folded at the same time, and nobody waits', async () => {
    let running = true;
    const folding = (async () => {
      while (running) await foldVolumes(shop.deps);
    })();
    // Each pays an address of its own: only the day is shared.
    const payers = await Promise.all(Array.from({ length: PARALLEL }, () => customer()));
    await Promise.all(
      payers.map(async (payer) => {
        for (let round = 0; round < 4; round += 1) await shop.pay(payer, { coins: '1.01' });
      }),
    );
    running = false;
    await folding;
    expect(await credited()).to.deep.equal([['2026-11-20', PARALLEL * 4, 32.32]]);
    expect(await shop.sql('select * from daily_volume_changes')).to.deep.equal([]);
  });
});
