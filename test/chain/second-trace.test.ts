import { expect } from 'chai';
import { advanceDeposit } from '../../src/services/deposits/advance.ts';
import { type Contract, USDT_UNIT } from '../support/chain.ts';
import { testContracts } from '../support/chain-contracts.ts';
import type { Fault } from '../support/fault-proxy.ts';
import { type Following, NO_TRACES, startFollowing, without } from './following.ts';
import { lying } from './lies.ts';

/** BNB that a contract passed on leaves no log: what one trace of one node says of it has to be said a second time, or by the balance. */
describe('money that a single trace showed', function () {
  this.timeout(60_000);
  let live: Following;
  let payer: Contract;
  let ahead = 0;

  before(async () => {
    live = await startFollowing({ now: () => new Date(Date.now() + ahead) });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
  });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  const NO_BALANCES = ['eth_getBalance', 'eth_call'];
  const both = (one: Fault, other: Fault): Fault => {
    return async (call, forward) => (await other(call, forward)) ?? (await one(call, forward));
  };
  const later = (ms: number): void => {
    ahead += ms;
  };
  const reasonOf = async (address: string): Promise<string> => {
    const result = await advanceDeposit(live.deps, { depositId: String((await rowOf(address))['id']), alarmed: false });
    return result.kind === 'wait' ? result.reason : result.kind;
  };

  /** A payment of 40 inside a contract that the first read shows by a trace; afterwards the endpoint is as `fault` makes it. */
  async function traced(fault: Fault | undefined, first?: Fault): Promise<string> {
    const address = await live.newAddress();
    live.proxy.fault = first && both(first, () => undefined);
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.follow();
    live.proxy.fault = fault;
    await live.finish();
    return address;
  }

  it('is proven by the trace of the second read', async () => {
    const address = await traced(without(...NO_BALANCES));
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
  });

  it('is proven by what the balance rose by, where the second read has no trace', async () => {
    const address = await traced(without(...NO_TRACES));
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
  });

  it('waits where neither can be had, says what for, holds nobody else up, and goes on with the first trace', async () => {
    const address = await live.newAddress();
    const plain = await live.newAddress();
    await payer.call('payCoin', [address, 40n]);
    await live.chain.send({ to: plain, valueUnits: 7n });
    const number = await live.chain.mine();
    await live.follow();
    live.proxy.fault = without(...NO_TRACES, ...NO_BALANCES);
    await live.chain.mine(20);
    await live.follow();
    const [cursor] = await live.rows('select verified_number from chain_cursors');
    expect(Number(cursor?.['verified_number'])).to.be.above(number);
    expect((await rowOf(plain))['verified_at']).to.not.equal(null);
    expect((await rowOf(address))['verified_at']).to.equal(null);
    await reasonOf(address);
    expect(await reasonOf(address)).to.match(/^a single trace of block \d+ showed the amount: it waits for a second trace or a balance/);
    live.proxy.fault = without(...NO_BALANCES);
    later(60_000);
    await live.follow();
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
  });

  it('is not proven by a balance that rose by another amount', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { traced: () => 90n });
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.follow();
    expect(await rowOf(address)).to.include({ amount_units: '90' });
    live.proxy.fault = without(...NO_TRACES);
    await live.finish();
    expect((await rowOf(address))['verified_at']).to.equal(null);
    live.proxy.fault = lying(address, { traced: () => 90n });
    later(60_000);
    await live.follow();
    expect((await rowOf(address))['verified_at'], 'the same trace said the same again').to.equal(null);
    live.proxy.fault = undefined;
    for (let tries = 0; tries < 2; tries++) {
      later(60_000);
      await live.follow();
    }
    expect((await rowOf(address))['verified_at']).to.not.equal(null);
    expect(await rowOf(address)).to.include({ amount_units: '40' });
  });

  it('is not proven by the very trace that showed it first, where the first read had none', async () => {
    const address = await live.newAddress();
    live.proxy.fault = without(...NO_TRACES);
    live.restart();
    await payer.call('payCoin', [address, 40n]);
    await live.chain.mine();
    await live.follow();
    expect(await live.deposits(address)).to.deep.equal([]);
    live.restart();
    let traces = 0;
    live.proxy.fault = (call, forward) => {
      if (call.method.startsWith('trace_')) traces += 1;
      return without(...NO_BALANCES)(call, forward);
    };
    await live.finish();
    expect((await rowOf(address))['verified_at'], 'the block was traced a second time').to.not.equal(null);
    expect(traces).to.be.above(1);
  });
});
