import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';

describe('a live deposit', function () {
  this.timeout(60_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney();
  });
  after(async () => {
    await live?.stop();
  });

  it('goes from the block to detected, confirming and completed, each announced once and signed', async () => {
    const { chain, address } = live;
    const hash = await chain.usdt.call('transfer', [address, 25n * USDT_UNIT]);
    const block = await chain.mine();
    const detected = await live.eventOf('deposit.detected', hash);
    expect(detected).to.include({
      amount: '25',
      amount_raw: `${25n * USDT_UNIT}`,
      currency: 'USDT',
      network: 'bsc',
      status: 'detected',
      sequence: 1,
      confirmations: 0,
    });
    expect(detected).to.include({
      block_number: block,
      customer_id: live.customer.id,
      external_id: 'user-1',
      is_live: true,
      required_confirmations: 3,
    });
    await chain.mine(1);
    const confirming = await live.eventOf('deposit.confirming', hash);
    expect(confirming).to.include({ status: 'confirming', sequence: 2, id: detected['id'] });
    await chain.mine(4);
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({ status: 'completed', sequence: 3, amount_usd: 25, id: detected['id'] });
    expect(live.receiver.requests.every((request) => request.verified)).to.equal(true);
    expect(live.events().filter((item) => item.data['transaction_hash'] === hash)).to.have.length(3);
    expect(await live.ledger()).to.deep.equal({
      chain: -25n * USDT_UNIT,
      pending: 0n,
      available: 25n * USDT_UNIT,
    });
  });

  it('is never credited before the block is final, however many confirmations it has', async () => {
    const { chain, address } = live;
    const hash = await chain.send({ to: address, valueUnits: 10n ** 17n });
    await chain.mine(1);
    await live.eventOf('deposit.detected', hash);
    await chain.mine(1);
    await live.eventOf('deposit.confirming', hash);
    await chain.mine(1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await live.deposits(hash))[0]).to.include({ status: 'confirming' });
    await chain.mine(3);
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({ currency: 'BNB', amount: '0.1', amount_usd: 60, contract_address: null });
  });

  it('shows its stage to operators and ends its actor when it is completed', async () => {
    const { chain, address, gateway } = live;
    const hash = await chain.usdt.call('transfer', [address, USDT_UNIT]);
    await chain.mine(6);
    const completed = await live.eventOf('deposit.completed', hash);
    const handle = gateway.gateway.link?.client.workflow.getHandle(
      `deposit:bsc:${hash}:${completed['address']}:USDT`,
    );
    const end = await eventually('the end of the actor', async () => {
      const description = await handle?.describe();
      return description?.status.name === 'COMPLETED' && description;
    });
    expect(end.memo).to.include({ transaction_hash: hash, amount: '1 USDT' });
    expect(end.historyLength).to.be.at.most(45);
  });
});
