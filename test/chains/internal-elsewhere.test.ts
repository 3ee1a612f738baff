import { expect } from 'chai';
import { type Contract, USDT_UNIT } from '../../dev/support/chain.ts';
import { testContracts } from '../../dev/support/chain-contracts.ts';
import type { FaultProxy } from '../../dev/support/fault-proxy.ts';
import {
  NO_TRACES,
  refusesTraces,
  startTestWatcher,
  type TestWatcher,
  without,
} from '../services/watcher/test-watcher.ts';

const FUND = 10n * USDT_UNIT;

/** Internal BNB with several endpoints, on a real database, without the comparison of balances. */
describe('internal BNB where another endpoint shows it', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let other: FaultProxy;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher({ others: 1 });
    const [further] = live.others;
    if (!further) throw new Error('no second endpoint');
    other = further;
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: FUND });
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
    other.fault = undefined;
    // Nothing is remembered of who traces.
    live.restart();
  });
  const verifiedNumber = async () =>
    Number((await live.rows('select verified_number from chain_cursors'))[0]?.['verified_number']);

  for (const [name, fault] of [
    ['by trace_block', undefined],
    ['by debug_traceBlockByHash', without('trace_block')],
  ] as const) {
    it(`is a deposit at finality although the endpoint in use offers no traces: another shows them ${name}`, async () => {
      live.proxy.fault = without(...NO_TRACES);
      other.fault = fault;
      live.restart();
      const address = await live.newAddress();
      const hash = await payer.call('payCoin', [address, 41n]);
      const number = await live.chain.mine();
      await live.catchUp();
      expect(await live.deposits(address), 'the first read does not wait for anybody else').to.deep.equal([]);
      await live.finish();
      const [deposit] = await live.deposits(address);
      expect(deposit).to.include({
        transaction_hash: hash,
        amount_units: '41',
        block_number: String(number),
      });
      expect(deposit?.['from_address']).to.equal(payer.address);
      expect(deposit?.['verified_at']).to.not.equal(null);
    });
  }

  it('is taken from another endpoint where the trace fails for one block', async () => {
    live.restart();
    const address = await live.newAddress();
    await live.chain.mine();
    await live.finish();
    const hash = await payer.call('payCoin', [address, 42n]);
    await live.chain.mine();
    live.proxy.fault = refusesTraces;
    await live.finish();
    live.proxy.fault = undefined;
    const [deposit] = await live.deposits(address);
    expect(deposit).to.include({ transaction_hash: hash, amount_units: '42' });
    expect(deposit?.['verified_at']).to.not.equal(null);
  });

  it('is found in a backlog too, where the first read of a block is the only one', async () => {
    live.proxy.fault = without(...NO_TRACES);
    live.restart();
    const address = await live.newAddress();
    const hash = await payer.call('payCoin', [address, 43n]);
    await live.chain.mine(200);
    await live.catchUp();
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: hash, amount_units: '43' });
  });

  it('holds nothing up where no endpoint shows it, and is found by the comparison', async () => {
    live.proxy.fault = without(...NO_TRACES);
    other.fault = refusesTraces;
    live.restart();
    const address = await live.newAddress();
    const plain = await live.newAddress();
    await payer.call('payCoin', [address, 44n]);
    await live.chain.send({ to: plain, valueUnits: 45n });
    const number = await live.chain.mine();
    await live.finish();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect(await verifiedNumber()).to.be.at.least(number);
    expect((await live.deposits(plain))[0]?.['verified_at']).to.not.equal(null);
    await live.reconcile();
    expect((await live.deposits(address))[0]).to.include({
      amount_units: '44',
      block_number: String(number),
    });
  });

  it('stays where the first read showed it and no endpoint shows it any more', async () => {
    live.restart();
    const address = await live.newAddress();
    await payer.call('payCoin', [address, 46n]);
    await live.chain.mine();
    await live.catchUp();
    live.proxy.fault = without(...NO_TRACES);
    other.fault = without(...NO_TRACES);
    await live.finish();
    const [deposit] = await live.deposits(address);
    expect(deposit).to.include({ amount_units: '46' });
    expect([deposit?.['block_hash'], deposit?.['verified_at']]).to.not.include(null);
  });
});
