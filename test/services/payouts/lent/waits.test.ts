import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { listStuckPayouts } from '../../../../src/services/payouts/stuck.ts';
import { says } from '../settle/steps.ts';
import { startFundedTronStage, TRX, type TronSettleStage } from '../settle/tron-stage.ts';

const USDT = TRX;
const HOUR_MS = 3_600_000;

describe('energy for payouts that wait, or are over', function () {
  this.timeout(300_000);
  let the: TronSettleStage;
  before(async () => {
    the = await startFundedTronStage({ energy: 'delegate', gasTrx: 1_000n, stakedUnits: 14_000n * TRX });
  });
  after(() => the?.stop());

  const purposes = async (key: AddressKey): Promise<string[]> =>
    (await the.sent(key)).map(({ purpose, state }) => `${purpose} ${state}`);
  const lentTo = (key: AddressKey): Promise<bigint> => the.lentTo(key);

  it('is lent only when the limit of the signer leaves room for the transfer, and others are lent it meanwhile', async () => {
    const large = await the.paid(['USDT', 100n * USDT]);
    await the.signer.stop();
    await the.signer.start({
      limits: {
        perHour: ({ currency }) => (currency === 'USDT' ? 20n * USDT : undefined),
        perDay: () => undefined,
      },
    });
    await the.settle(large, says('SIGN_MAX_PER_HOUR'));
    expect(await the.wait(large)).to.include({ code: 'limit' });
    expect(await purposes(large)).to.include('delegate asked');
    expect(await lentTo(large)).to.equal(0n);

    const small = await the.paid(['USDT', 10n * USDT]);
    await the.settle(small);
    expect(await purposes(small))
      .to.include('reclaim final')
      .and.include('payout final');

    await the.signer.stop();
    await the.signer.start();
    the.clock.aheadMs += HOUR_MS;
    await the.settle(large);
    expect(await purposes(large))
      .to.include('reclaim final')
      .and.include('payout final');
    expect(await lentTo(large)).to.equal(0n);
  });

  it('is told as such by "deposit stuck" where it does not come back, and no deposit is', async () => {
    await the.node.stake(the.gas, 400_000n * TRX);
    const key = await the.paid(['USDT', 10n * USDT]);
    for (let lost = 0; lost < 3; lost += 1) {
      await the.settle(key, says('what takes the energy back was sent'));
      await the.node.forget(String((await the.sent(key)).at(-1)?.['hash']));
      await the.letItsTimePass();
    }
    await the.settle(key, says('was not taken back in 3 attempts'));
    const [payout] = await the.payouts(key);
    expect(payout).to.include({ state: 'settled' });
    const [stuck, ...others] = await listStuckPayouts(the.deps);
    expect(others).to.deep.equal([]);
    expect(stuck).to.include({
      deposit_id: null,
      transaction_hash: null,
      deposits: 0,
      state: 'failed_again',
    });
    expect(stuck?.reason).to.match(/^the payout is over, and what it was lent is not back: /);
    expect(stuck?.action).to.include(`"payout retry ${payout?.['id']}"`);
    the.clock.aheadMs += HOUR_MS;
    await the.settle(key);
    expect(await listStuckPayouts(the.deps)).to.deep.equal([]);
  });
});
