import { expect } from 'chai';
import { type Contract, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { lying } from '../watcher/lies.ts';
import { startTestWatcher, type TestWatcher } from '../watcher/test-watcher.ts';

const FLOOR = 100n;

/**
 * What is too little to become a deposit: it costs its sender
 * nearly nothing, so it must cost us nearly nothing too.
 */
describe('money below the dust floor', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    const dustFloorUnits = new Map([
      ['USDT.bsc', FLOOR],
      ['BNB.bsc', FLOOR],
    ]);
    live = await startTestWatcher({ settings: { dustFloorUnits } });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.chain.usdt.call('transfer', [payer.address, 1_000n * USDT_UNIT]);
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
  });

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
  });

  it('is still counted when the balances are compared', async () => {
    live.seen.differences.length = 0;
    await seen(token(await live.newAddress(), 5n));
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences).to.deep.equal([]);
    expect(await live.rows('select * from balance_differences')).to.deep.equal([]);
  });

  it('is what one transaction brought in all: two halves of enough are a deposit', async () => {
    const address = await live.newAddress();
    await seen(payer.call('pay', [live.chain.usdt.address, [address, address], [60n, 40n]]));
    expect((await live.deposits(address)).map((row) => row['amount_units'])).to.deep.equal(['100']);
    expect(await aside(address)).to.deep.equal([]);
  });

  it('becomes a deposit when the second read shows enough', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { logUnits: () => 7n });
    await seen(token(address, 5_000n));
    expect(await live.deposits(address)).to.deep.equal([]);
    live.proxy.fault = undefined;
    await live.finish();
    const [deposit] = await live.deposits(address);
    expect(deposit).to.include({ amount_units: '5000', status: 'detected' });
    expect(deposit?.['verified_at']).to.not.equal(null);
    expect(await aside(address), 'it does not count twice').to.deep.equal([]);
  });

  it('stays a deposit, of the amount that is true, when the first read had shown more', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { logUnits: () => 5_000n });
    await seen(token(address, 7n));
    live.proxy.fault = undefined;
    await live.finish();
    expect((await live.deposits(address)).map((row) => row['amount_units'])).to.deep.equal(['7']);
    expect(await aside(address)).to.deep.equal([]);
  });

  it('is put right by the second read like any amount', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { logUnits: () => 3n });
    await seen(token(address, 8n));
    live.proxy.fault = undefined;
    await live.finish();
    expect((await aside(address)).map((row) => row['amount_units'])).to.deep.equal(['8']);
  });

  it('keeps what a trace showed of it, whatever a read without one shows', async () => {
    const address = await live.newAddress();
    await seen(payer.call('payCoin', [address, 9n]));
    live.proxy.fault = (call) =>
      call.method.startsWith('trace_') || call.method.startsWith('debug_')
        ? { json: { jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'not available' } } }
        : undefined;
    await live.finish();
    expect((await aside(address)).map((row) => row['amount_units'])).to.deep.equal(['9']);
  });

  it('becomes a deposit when an operator claims it, and nothing else of its block does', async () => {
    const [address, other] = [await live.newAddress(), await live.newAddress()];
    await token(other, 4n);
    const txHash = await seen(token(address, 9n));
    await live.finish();
    await claimTransaction(live.deps, live.watchedChain, { txHash, signal: new AbortController().signal });
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
