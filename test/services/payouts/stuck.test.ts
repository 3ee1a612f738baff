import { expect } from 'chai';
import { WAIT_CODES, type WaitCode } from '../../../src/domain/payouts/waits.ts';
import { planPayout } from '../../../src/services/payouts/plan.ts';
import { listStuckPayouts, readOverduePayouts } from '../../../src/services/payouts/stuck.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { DESTINATION } from '../../support/payout-rows.ts';

/** No actor and no worker lives here: whatever is listed is listed from rows. */
describe('payouts that do not go on by themselves', function () {
  this.timeout(60_000);
  let shop: Shop;
  let first: string;
  beforeEach(async () => {
    shop = await startShop();
    const customer = await shop.customer();
    first = await shop.pay(customer, { coins: '1', block: 5 });
    shop.pass(1);
    await shop.pay(customer, { coins: '2', block: 6 });
    await shop.sql('update deposits set verified_at = now()');
  });
  afterEach(() => shop?.stop());

  const waits = async (code: WaitCode, payoutId: string | null = null, needs: string | null = null) => {
    const { address, addressKey } = await shop.deposit(first);
    await shop.sql('delete from settlement_waits');
    await shop.sql(
      `insert into settlement_waits (network, address_key, merchant_id, payout_id, address, currency, code,
        reason, needs_units, needs_address, since, updated_at)
       select 'bsc', ?, ?::uuid, ?::uuid, ?, 'USDT', ?, 'why', ?, ?, at, at from (values (?::timestamptz)) v (at)`,
      [addressKey, shop.merchantId, payoutId, address, code, needs, needs && DESTINATION, shop.clock.now],
    );
  };

  it('are listed with the coins that somebody has to send, at once', async () => {
    const { address, transactionHash } = await shop.deposit(first);
    await waits('waiting_for_gas', null, '20000000000000000');
    expect(await listStuckPayouts(shop.deps)).to.deep.equal([
      {
        deposit_id: first,
        network: 'bsc',
        transaction_hash: transactionHash,
        address,
        state: 'waiting_for_gas',
        reason: 'why',
        since: '2026-11-20T09:00:01Z',
        action: `send at least 0.02 BNB to ${DESTINATION}; it goes on by itself then`,
        needs: { currency: 'BNB', amount: '0.02', address: DESTINATION },
        payout_id: null,
        deposits: 2,
      },
    ]);
  });

  it('are counted once their actor has called for a person, and the first is named', async () => {
    await waits('address_short');
    expect(await readOverduePayouts(shop.deps)).to.include({ alarmed: 0, leftAlone: 0 });
    await shop.sql('update settlement_waits set alarmed_at = since');
    const { address } = await shop.deposit(first);
    expect(await readOverduePayouts(shop.deps)).to.include({ alarmed: 1, first: `${address} on bsc: why` });
  });

  it('are listed once they have waited long, where they go by themselves as a rule, and never where they do', async () => {
    const listed = { now: [] as string[], later: [] as string[], inAWeek: [] as string[] };
    for (const code of WAIT_CODES) {
      await waits(code);
      if ((await listStuckPayouts(shop.deps)).length > 0) listed.now.push(code);
      shop.pass(shop.deps.settings.stuckAfterMs / 1_000);
      if ((await listStuckPayouts(shop.deps)).length > 0) listed.later.push(code);
      shop.pass(7 * 24 * 3_600);
      if ((await listStuckPayouts(shop.deps)).length > 0) listed.inAWeek.push(code);
    }
    const now = [
      'waiting_for_gas',
      'sealed',
      'address_short',
      'foreign_use',
      'contradiction',
      'failed_again',
      'new_destination',
    ];
    const inTime = ['on_its_way', 'chain_behind', 'no_price', 'requests', 'limit', 'signer_away'];
    expect(listed.now).to.have.members(now);
    const later = [...now, ...inTime, 'refused', 'refuses'];
    expect(listed.later).to.have.members(later);
    expect(listed.inAWeek).to.have.members([...later, 'gas_price', 'fee_too_high', 'paid_lately']);
  });

  it('are listed under the payout that is planned, and where nobody looks after it', async () => {
    const { network, addressKey, currency } = await shop.deposit(first);
    const payout = await transact(shop.deps, ({ em }) =>
      planPayout(em, shop.deps, { network, addressKey, currency, destination: DESTINATION }),
    );
    await waits('sealed', payout?.id ?? null);
    expect(await listStuckPayouts(shop.deps)).to.containSubset([
      { payout_id: payout?.id, deposit_id: first, deposits: 2, state: 'sealed', needs: null },
    ]);
    await shop.sql('delete from settlement_waits');
    expect(await listStuckPayouts(shop.deps)).to.deep.equal([]);
    shop.pass(59 * 60);
    expect(await readOverduePayouts(shop.deps)).to.include({ alarmed: 0, leftAlone: 0 });
    shop.pass(2 * 60);
    expect(await readOverduePayouts(shop.deps)).to.include({ alarmed: 0, leftAlone: 1 });
    await waits('on_its_way', payout?.id ?? null);
    expect(await readOverduePayouts(shop.deps), 'somebody looks').to.include({ leftAlone: 0 });
    await shop.sql('delete from settlement_waits');
    shop.pass(24 * 3_600);
    const [alone] = await listStuckPayouts(shop.deps);
    expect(alone).to.include({ payout_id: payout?.id, state: 'left_alone' });
    expect(alone?.action).to.match(/"repair"$/);
  });
});
