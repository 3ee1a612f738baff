import { expect } from 'chai';
import { bscStage, claimed } from '../watcher/asked.ts';
import { lying, together } from '../watcher/lies.ts';

const FLOOR = 100n;

/**
 * What is too little to become a deposit: it costs its sender
 * nearly nothing, so it must cost us nearly nothing too.
 */
describe('money below the dust floor', () => {
  const dustFloorUnits = new Map([
    ['USDT.bsc', FLOOR],
    ['BNB.bsc', FLOOR],
  ]);
  const { live, payer } = bscStage({ settings: { dustFloorUnits } });

  const aside = (address: string) =>
    live.rows(
      'select reason, amount_units, contract_address from unrecognised_transfers where address_key = ? order by contract_address',
      [address.slice(2)],
    );
  const token = (address: string, units: bigint) => live.chain.usdt.call('transfer', [address, units]);
  async function seen(pay: Promise<string>): Promise<string> {
    const hash = await pay;
    await live.chain.mine();
    await live.catchUp();
    return hash;
  }

  it('is listed for the operator, and makes no deposit, no event and no actor', async () => {
    const address = await live.newAddress();
    const before = await live.rows(
      'select (select count(*) from events) + (select count(*) from outbox) as made',
    );
    await token(address, FLOOR - 1n);
    await seen(live.chain.send({ to: address, valueUnits: 1n }));
    await live.finish();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect(await aside(address)).to.deep.equal([
      { reason: 'dust', amount_units: '1', contract_address: '' },
      { reason: 'dust', amount_units: '99', contract_address: live.chain.usdt.address },
    ]);
    expect(
      await live.rows('select (select count(*) from events) + (select count(*) from outbox) as made'),
    ).to.deep.equal(before);
    await live.reconcile();
    expect(await live.rows('select * from balance_differences'), 'it is counted').to.deep.equal([]);
  });

  it('is what one transaction brought in all: two halves of enough are a deposit', async () => {
    const address = await live.newAddress();
    await seen(payer.call('pay', [live.chain.usdt.address, [address, address], [60n, 40n]]));
    expect((await live.deposits(address)).map((row) => row['amount_units'])).to.deep.equal(['100']);
    expect(await aside(address)).to.deep.equal([]);
  });

  it('is what the final block holds: becomes a deposit, or stays one of the amount that is true', async () => {
    const [more, less] = [await live.newAddress(), await live.newAddress()];
    live.proxy.fault = together([
      lying(more, { logUnits: () => 7n }),
      lying(less, { logUnits: () => 5_000n }),
    ]);
    await token(more, 5_000n);
    await seen(token(less, 7n));
    expect(await live.deposits(more)).to.deep.equal([]);
    live.proxy.fault = undefined;
    await live.finish();
    const [deposit] = await live.deposits(more);
    expect(deposit).to.include({ amount_units: '5000', status: 'detected' });
    expect(deposit?.['verified_at']).to.not.equal(null);
    expect((await live.deposits(less)).map((row) => row['amount_units'])).to.deep.equal(['7']);
    expect([await aside(more), await aside(less)], 'neither counts twice').to.deep.equal([[], []]);
  });

  it('becomes a deposit when an operator claims it, and nothing else of its block does', async () => {
    const [address, other] = [await live.newAddress(), await live.newAddress()];
    await token(other, 4n);
    const txHash = await seen(token(address, 9n));
    await live.finish();
    expect(await claimed(live, txHash)).to.deep.equal([9n]);
    expect((await live.deposits(address)).map((row) => row['amount_units'])).to.deep.equal(['9']);
    expect(await aside(address), 'it does not count twice').to.deep.equal([]);
    expect(await live.deposits(other)).to.deep.equal([]);
  });

  it('is no alarm on a test-mode address, where more than dust is one', async () => {
    const address = await live.newAddress('test');
    await seen(token(address, 1n));
    expect((await aside(address)).map((row) => row['reason'])).to.deep.equal(['dust']);
    await seen(token(address, FLOOR));
    expect((await aside(address)).map((row) => row['reason'])).to.have.members([
      'dust',
      'real money on a test-mode address',
    ]);
  });
});
