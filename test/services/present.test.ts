import { expect } from 'chai';
import type { Deposit } from '../../src/db/entities/index.ts';
import { presentDeposit } from '../../src/services/deposits/present.ts';
import { presentCustomer } from '../../src/services/merchants/present.ts';
import { presentDelivery } from '../../src/services/webhooks/present.ts';

const AT = new Date('2026-11-20T09:30:00.999Z');

const row = (more: Partial<Deposit> = {}): Deposit => {
  const deposit = {
    id: 'd',
    merchantId: 'm',
    customerId: 'c',
    mode: 'live',
    network: 'tron',
    currency: 'USDT',
    contractAddress: 'T…',
    address: 'T',
    addressKey: 'k',
    fromAddress: null,
    transactionHash: 'h',
    blockNumber: 100,
    blockHash: 'b',
    amountUnits: 12_500_000n,
    amountUsdCents: 1_250n,
    rateUnits: 99_990_000n,
    rateSource: 's',
    rateAt: AT,
    status: 'confirming',
    stateSince: AT,
    failureCode: null,
    failureReason: null,
    generation: 1,
    sequence: 2,
    simulated: false,
    requiredConfirmations: 19,
    verifiedAt: null,
    alarmedAt: null,
    wakeAt: null,
    detectedAt: AT,
    completedAt: null,
    settledAt: null,
    createdAt: AT,
    updatedAt: AT,
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

  it('shows null where there is no price yet', () => {
    expect(show({ amountUsdCents: null, rateUnits: null, rateSource: null, rateAt: null })).to.include({
      amount_usd: null,
      rate_usd: null,
      rate_at: null,
    });
    expect(show({ amountUsdCents: undefined as never })).to.include({ amount_usd: null });
  });

  it('counts confirmations from the head, and none before the block, without a head, or for a replaced block', () => {
    expect(show().confirmations).to.equal(5);
    expect(show({}, 99).confirmations).to.equal(0);
    expect(show({}, null).confirmations).to.equal(0);
    expect(show({ blockHash: null }).confirmations).to.equal(0);
  });

  it('shows a simulated deposit with the confirmations that its state promises', () => {
    const confirmations = (status: Deposit['status']) => show({ simulated: true, status }, 0).confirmations;
    expect(
      ['detected', 'confirming', 'completed', 'settled'].map((status) =>
        confirmations(status as Deposit['status']),
      ),
    ).to.deep.equal([0, 1, 19, 19]);
  });

  it('shows exactly the members of the contract', () => {
    expect(Object.keys(show())).to.have.members(
      `id customer_id external_id email network currency contract_address amount amount_raw amount_usd rate_usd rate_source rate_at address from_address
       transaction_hash block_number block_hash confirmations required_confirmations status failure_code failure_reason payment_token settlement sequence
       is_live detected_at completed_at settled_at`.split(/\s+/),
    );
  });

  it('shows the addresses of a customer in one order, whatever the order of the rows', () => {
    const address = (network: 'bsc' | 'tron') => ({ network, address: network, createdAt: AT });
    const customer = { id: 'c', mode: 'test' as const, metadata: {}, createdAt: AT, updatedAt: AT };
    const more = { contracts: { bsc: 'B', tron: 'T' }, depositCount: 2, totalDepositedCents: 1_999n };
    const view = presentCustomer(customer, { ...more, addresses: [address('tron'), address('bsc')] });
    expect(view.addresses.map(({ network, native_currency }) => [network, native_currency])).to.deep.equal([
      ['bsc', 'BNB'],
      ['tron', 'TRX'],
    ]);
    expect(view).to.include({
      external_id: null,
      email: null,
      name: null,
      total_deposited_usd: 19.99,
      is_live: false,
    });
  });

  it('shows the next attempt only of a delivery that is on its way', () => {
    const delivery = {
      id: 'd',
      eventId: 'e',
      endpointId: 'p',
      eventType: 'x',
      createdAt: AT,
      nextAttemptAt: AT,
    };
    expect(presentDelivery({ ...delivery, status: 'pending' }, []).next_attempt_at).to.equal(
      '2026-11-20T09:30:00Z',
    );
    expect(presentDelivery({ ...delivery, status: 'failed' }, []).next_attempt_at).to.equal(null);
  });
});
