import { expect } from 'chai';
import type { Contract } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { firstOf } from '../../../dev/support/fault-proxy.ts';
import { MULTICALL3 } from '../../../src/chains/bsc/balances.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';
import { differencesAt, forgetDeposit, forgetful, fundedPayer } from './support.ts';

const { signal } = new AbortController();

describe('balances beside the ledger', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;
  let keepsOldBalances = true;

  before(async () => {
    const forgets = forgetful(() => live);
    live = await startTestWatcher({
      fault: firstOf(
        (call, forward) => (keepsOldBalances ? undefined : forgets(call, forward)),
        without(...NO_TRACES),
      ),
    });
    payer = await fundedPayer(live);
  });
  after(() => live?.stop());
  afterEach(() => {
    keepsOldBalances = true;
    live.seen.differences.length = 0;
    live.seen.foundLate = 0;
  });

  const open = (address: string) => differencesAt(live, address);

  it('agree for plain transfers of both assets, and nothing is noted', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 5n]);
    await live.chain.send({ to: address, valueUnits: 7n });
    await live.finish();
    expect(await live.reconcile()).to.include({ did: 'finished' });
    expect(await open(address)).to.deep.equal([]);
    expect(live.seen.differences).to.deep.equal([]);
  });

  for (const old of [true, false]) {
    const where = old ? 'from old balances' : 'from the calldata where no endpoint keeps old balances';

    it(`find BNB that a contract passed on, ${where}, and record it as a deposit of that transaction`, async () => {
      const address = await live.newAddress();
      await live.finish();
      await live.reconcile();
      const txHash = await payer.call('payCoin', [address, 123_456_789n]);
      const number = await live.chain.mine();
      await live.finish();
      keepsOldBalances = old;
      expect(await live.deposits(address)).to.deep.equal([]);
      await live.reconcile();
      const [deposit, ...others] = await live.deposits(address);
      expect(others).to.deep.equal([]);
      expect(deposit).to.include({
        transaction_hash: txHash,
        currency: 'BNB',
        amount_units: '123456789',
        from_address: null,
      });
      expect(Number(deposit?.['block_number'])).to.equal(number);
      expect(deposit?.['verified_at']).to.not.equal(null);
      expect(live.seen.foundLate).to.equal(1);
      expect(await open(address)).to.deep.equal([]);
      await live.reconcile();
      expect(await live.deposits(address)).to.have.length(1);
    });
  }

  it('find an amount that no calldata names, where old balances tell the block', async () => {
    const address = await live.newAddress();
    const txHash = await payer.call('passOn', [address], { valueUnits: 55n });
    await live.finish();
    await live.reconcile();
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: txHash, amount_units: '55' });
  });

  it('find two payments of one window, each with its own transaction', async () => {
    const address = await live.newAddress();
    const first = await payer.call('payCoin', [address, 1_000n]);
    await live.chain.mine(3);
    const second = await payer.call('payCoin', [address, 2_000n]);
    await live.finish();
    await live.reconcile();
    const found = await live.deposits(address);
    expect(found.map((row) => [row['transaction_hash'], row['amount_units']])).to.have.deep.members([
      [first, '1000'],
      [second, '2000'],
    ]);
  });

  it('find USDT whose block a reader had left out', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.finish();
    await forgetDeposit(live, txHash);
    await live.reconcile();
    expect((await live.deposits(address))[0]).to.include({
      transaction_hash: txHash,
      amount_units: '9',
      currency: 'USDT',
    });
    expect(live.seen.foundLate).to.equal(1);
  });

  it('go on after a restart where the round stood, and use one call for many addresses where Multicall3 is there', async () => {
    await live.chain.anvil.rpc('anvil_setCode', [MULTICALL3, testContracts().Multicall3.runtime]);
    // With them there are three batches, whichever tests ran before.
    for (let i = 0; i < 11; i++) await live.newAddress();
    const address = await live.newAddress();
    const txHash = await payer.call('payCoin', [address, 4_321n]);
    await live.finish();
    const fresh = { ...live.watchedChain, reader: live.newReader() };
    live.proxy.calls.length = 0;
    const pace = { everyMs: 0, batchAddresses: 4 };
    expect(await reconcileStep(live.deps, fresh, pace, signal)).to.include({ did: 'compared', checked: 4 });
    const [round] = await live.rows('select * from balance_rounds');
    expect(Number(round?.['checked'])).to.equal(4);
    let steps = 1;
    for (let step = await reconcileStep(live.deps, fresh, pace, signal); step.did === 'compared'; steps++)
      step = await reconcileStep(live.deps, fresh, pace, signal);
    const [addresses] = await live.rows(`select count(*) as n from deposit_addresses where network = 'bsc'`);
    expect(Number((await live.rows('select checked from balance_rounds'))[0]?.['checked'])).to.equal(
      Number(addresses?.['n']),
    );
    expect(steps).to.be.at.least(3);
    const single = live.proxy.calls.filter(
      (call) => call.method === 'eth_getBalance' && call.params[0] !== address,
    );
    expect(single).to.deep.equal([]);
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: txHash });
  });

  it('refuse to claim what is not final, not there, no hash, or not ours', async () => {
    const refusal = (txHash: string) =>
      claimTransaction(live.deps, live.watchedChain, { txHash, signal }).catch(
        (error: Error) => error.message,
      );
    const address = await live.newAddress();
    await live.finish();
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.chain.mine();
    expect(await refusal(txHash)).to.match(/is not final yet or was not read twice/);
    expect(await refusal(`0x${'9'.repeat(64)}`)).to.match(/no endpoint of bsc has transaction/);
    expect(await refusal('0x1')).to.match(/is 0x and 64 hex digits/);
    const elsewhere = {
      ...live.watchedChain,
      reader: { ...live.watchedChain.reader, network: 'tron', locate: async () => undefined },
    } as const;
    const there = await claimTransaction(live.deps, elsewhere, { txHash: '9'.repeat(64), signal }).catch(
      String,
    );
    expect(there).to.match(/no endpoint of tron has transaction 9/);
    const foreign = await live.chain.usdt.call('transfer', [live.chain.accounts[5], 9n]);
    await live.finish();
    expect(await refusal(foreign)).to.match(/pays none of our live addresses in BNB or USDT/);
    expect(await refusal(txHash)).to.match(/is recorded already/);
    expect(await live.deposits(address)).to.have.length(1);
  });
});
