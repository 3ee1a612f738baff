import { expect } from 'chai';
import type { Deposit } from '../../src/db/entities/index.ts';
import { presentDeposit } from '../../src/services/deposits/present.ts';

const AT = new Date('2026-11-20T09:30:00.999Z');

const row = (more: Partial<Deposit> = {}): Deposit => {
  const deposit = {
    id: 'd',
    mode: 'live',
    network: 'tron',
    currency: 'USDT',
    blockNumber: 100,
    blockHash: 'b',
    amountUnits: 12_500_000n,
    amountUsdCents: 1_250n,
    rateUnits: 99_990_000n,
    rateAt: AT,
    status: 'confirming',
    sequence: 2,
    simulated: false,
    requiredConfirmations: 19,
    detectedAt: AT,
    completedAt: null,
    settledAt: null,
    ...more,
  };
  return deposit as unknown as Deposit;
};
const show = (more: Partial<Deposit> = {}, headNumber: number | null = 105) =>
  presentDeposit(row(more), { externalId: 'u', email: null, headNumber });

describe('how resources are shown', () => {
  it('shows coins as exact strings, dollars as numbers and times in whole seconds', () => {
    expect(show()).to.include({
      amount: '12.5',
      amount_raw: '12500000',
      amount_usd: 12.5,
      rate_usd: 0.9999,
      is_live: true,
    });
    expect(show()).to.include({
      detected_at: '2026-11-20T09:30:00Z',
      rate_at: '2026-11-20T09:30:00Z',
      completed_at: null,
    });
    const big = show({ network: 'bsc', amountUnits: 123_456_789_012_345_678_901_234_567n });
    expect([big.amount, big.amount_raw]).to.deep.equal([
      '123456789.012345678901234567',
      '123456789012345678901234567',
    ]);
  });

  it('counts confirmations from the head, and none before the block, without a head, or for a replaced block', () => {
    expect(show().confirmations).to.equal(5);
    expect(show({}, 99).confirmations).to.equal(0);
    expect(show({}, null).confirmations).to.equal(0);
    expect(show({ blockHash: null }).confirmations).to.equal(0);
  });
});
