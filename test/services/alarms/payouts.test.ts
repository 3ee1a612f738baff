import { expect } from 'chai';
import { type AlarmKind, readAlarms } from '../../../src/services/alarms/alarms.ts';
import { cancelPayout, planPayout } from '../../../src/services/payouts/plan.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const MINUTE = 60;

/** No actor, no worker and no watcher lives here: whatever is seen is seen from rows. */
describe('alarms of payouts', function () {
  this.timeout(60_000);
  let shop: Shop;
  let customer: string;
  before(async () => {
    shop = await startShop();
    customer = await shop.customer();
  });
  after(() => shop?.stop());
  const alarm = async (kind: AlarmKind) => (await readAlarms(shop.deps)).find((one) => one.kind === kind);
  const count = async (kind: AlarmKind) => (await alarm(kind))?.count;

  it('count addresses that wait for a person to be paid out, and payouts that nobody looks after', async () => {
    const id = await shop.pay(customer, { coins: '1', block: 5 });
    await shop.sql('update deposits set verified_at = now() where id = ?', [id]);
    const { address, addressKey, network, currency } = await shop.deposit(id);
    const now = shop.clock.now;
    await shop.sql(
      `insert into settlement_waits (network, address_key, merchant_id, address, currency, code, reason, since,
        updated_at) values (?, ?, ?, ?, ?, 'address_short', 'it holds less', ?, ?)`,
      [network, addressKey, shop.merchantId, address, currency, now, now],
    );
    expect(await count('payouts')).to.equal(0);
    await shop.sql('update settlement_waits set alarmed_at = ?', [now]);
    expect(await alarm('payouts')).to.include({
      count: 1,
      reason: `1 addresses are not paid out, the first ${address} on bsc: it holds less`,
    });
    await shop.sql('update settlement_waits set alarmed_at = null');
    const planned = await transact(shop.deps, ({ em }) =>
      planPayout(em, shop.deps, { network, addressKey, currency, destination: '0xd1' }),
    );
    shop.pass(59 * MINUTE);
    expect(await count('payouts')).to.equal(0);
    shop.pass(2 * MINUTE);
    expect(await alarm('payouts')).to.include({
      count: 1,
      reason: 'nobody looks after 1 payouts that are under way',
    });
    await shop.sql('update settlement_waits set updated_at = ?', [shop.clock.now]);
    expect(await count('payouts')).to.equal(0);
    await transact(shop.deps, ({ em }) => cancelPayout(em, shop.deps, planned?.id ?? '', 'the test is over'));
    await shop.sql('delete from settlement_waits');
  });
});
