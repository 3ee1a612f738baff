import { expect } from 'chai';
import { keyOfHex } from '../../../../src/chains/address-key.ts';
import type { SettlementStep } from '../../../../src/services/payouts/settle/context.ts';
import { type SettleStage, startFundedStage, USDT } from './stage.ts';
import { reasonOf } from './steps.ts';

const DESTINATION = keyOfHex('d1'.repeat(20));
const DAY_MS = 25 * 60 * 60_000;

describe('a payout that is more than a limit ever allows', function () {
  this.timeout(120_000);
  let the: SettleStage;
  before(async () => {
    the = await startFundedStage({ signs: false });
    const perDay = ({ currency }: { readonly currency: string }) =>
      currency === 'USDT' ? 30n * USDT : undefined;
    await the.signer.start({ limits: { perHour: () => undefined, perDay } });
  });
  after(() => the?.stop());

  it('goes in parts, the oldest deposits that fit first; one that is larger alone waits with a sentence', async () => {
    const key = await the.paid(
      ['USDT', 11n * USDT],
      ['USDT', 6n * USDT],
      ['USDT', 3n * USDT],
      ['USDT', 2n * USDT],
    );
    const isLimited = (one: SettlementStep) => reasonOf(one).includes('allows one merchant at all');
    const paid = () => the.tokensOf(DESTINATION);
    await the.settle(key, isLimited);
    expect([await paid(), await the.states(key)]).to.deep.equal([9n * USDT, ['settled', 'planned']]);
    expect((await the.wait(key))?.['reason']).to.match(
      /^.*13000000000000000000 units.* raise SIGN_MAX_PER_DAY_MERCHANT$/,
    );
    the.clock.aheadMs += DAY_MS;
    const alone = (one: SettlementStep) =>
      isLimited(one) && reasonOf(one).includes(' 11000000000000000000 units');
    await the.settle(key, alone);
    expect([await paid(), await the.states(key)]).to.deep.equal([
      11n * USDT,
      ['settled', 'settled', 'planned'],
    ]);
    await the.agrees();
  });
});
