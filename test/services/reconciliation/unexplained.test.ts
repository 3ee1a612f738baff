import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Contract } from '../../../dev/support/chain.ts';
import { firstOf } from '../../../dev/support/fault-proxy.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { listDifferences } from '../../../src/services/reconciliation/pass.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';
import { asideAt, differencesAt, forgetful, fundedPayer } from './support.ts';

const { signal } = new AbortController();

describe('balances that no deposit explains', function () {
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
  const aside = (address: string) => asideAt(live, address);

  it('set aside what nothing explains, tell the operator once, and credit it only when the transaction is claimed', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const txHash = await payer.call('passOn', [address], { valueUnits: 777n });
    await live.finish();
    keepsOldBalances = false;
    await live.reconcile();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect((await aside(address))[0]).to.include({
      transaction_hash: '',
      contract_address: '',
      amount_units: '777',
    });
    expect((await open(address))[0]).to.include({ difference_units: '777', searched: true });
    expect(live.seen.differences).to.deep.equal([777n]);
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences, 'the same difference alarms once').to.deep.equal([777n]);
    const { deposits } = await claimTransaction(live.deps, live.watchedChain, { txHash, signal });
    expect(deposits.map((deposit) => [deposit.transactionHash, deposit.amountUnits])).to.deep.equal([
      [txHash, 777n],
    ]);
    expect([await open(address), await aside(address)]).to.deep.equal([[], []]);
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences).to.deep.equal([777n]);
    const again = await claimTransaction(live.deps, live.watchedChain, { txHash, signal }).catch(
      (error: Error) => error.message,
    );
    expect(again).to.match(/is recorded already; look at it with "deposit show/);
  });

  it('attribute nothing where two transactions could explain it', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    await payer.call('payCoin', [address, 31n]);
    await payer.call('payCoinAndSwallow', [address, 31n]);
    await live.finish();
    await live.reconcile();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect((await aside(address))[0]).to.include({ amount_units: '31' });
  });

  it('do not take a mere mention for a payment', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    await payer.call('payCoinAndSwallow', [address, 31n]);
    await live.finish();
    await live.reconcile();
    expect([await live.deposits(address), await open(address)]).to.deep.equal([[], []]);
  });

  it('credit nothing that came in no transaction, beside a deposit that is known', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const txHash = await live.chain.send({ to: address, valueUnits: 10n });
    await live.finish();
    // As a block reward comes.
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x64']);
    await live.finish();
    await live.reconcile();
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: txHash, amount_units: '10' });
    expect((await open(address))[0]).to.include({ difference_units: '90' });
  });

  it('report a balance below the ledger, and forget it when it is whole again', async () => {
    const address = await live.newAddress();
    await live.chain.send({ to: address, valueUnits: 10n });
    await live.finish();
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x4']);
    await live.finish();
    await live.reconcile();
    expect((await open(address))[0]).to.include({
      difference_units: '-6',
      reason: 'less lies on the address than the ledger says',
    });
    expect(live.seen.differences).to.deep.equal([-6n]);
    expect(await aside(address)).to.deep.equal([]);
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0xa']);
    await live.finish();
    await live.reconcile();
    expect(await open(address)).to.deep.equal([]);
  });

  it('know what our own wallets sent, without crediting it', async () => {
    const address = await live.newAddress();
    const [, , , ownWallet = ''] = live.chain.accounts;
    live.watchedChain.watched.index.add(ownWallet, 'gas');
    await live.chain.send({ from: ownWallet, to: address, valueUnits: 12n });
    await live.finish();
    await live.reconcile();
    expect([await live.deposits(address), await open(address)]).to.deep.equal([[], []]);
    expect((await aside(address))[0]).to.include({
      amount_units: '12',
      reason: 'from one of our own wallets',
    });
  });

  it('set aside real money that a contract brought to a test-mode address', async () => {
    const address = await live.newAddress('test');
    const txHash = await payer.call('payCoin', [address, 99n]);
    await live.finish();
    await live.reconcile();
    expect(await live.deposits(address)).to.deep.equal([]);
    expect((await aside(address))[0]).to.include({
      transaction_hash: txHash,
      reason: 'real money on a test-mode address',
    });
    const refused = await claimTransaction(live.deps, live.watchedChain, { txHash, signal }).catch(
      (error: Error) => error.message,
    );
    expect(refused).to.match(/pays none of our live addresses/);
  });

  it('take what lay on an address before it was one of ours for no difference', async () => {
    const address = await live.newAddress();
    await live
      .rows('delete from deposit_addresses where address_key = ? returning id', [address.slice(2)])
      .then(() => undefined);
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x64']);
    await live.finish();
    await live.reconcile();
    const [customer] = await live.rows(
      'select id, merchant_id from customers order by created_at desc limit 1',
    );
    await live.rows(
      `insert into deposit_addresses (id, customer_id, merchant_id, mode, network, address, address_key,
        created_at) values (?, ?, ?, 'live', 'bsc', ?, ?, now())`,
      [randomUUID(), customer?.['id'], customer?.['merchant_id'], address, address.slice(2)],
    );
    live.seen.differences.length = 0;
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences).to.deep.equal([]);
    expect(await aside(address)).to.deep.equal([]);
    const listed = async () =>
      (await listDifferences(live.deps, 'bsc')).listed.filter(
        ({ kept }) => kept.addressKey === address.slice(2),
      );
    expect(await listed()).to.deep.equal([]);
    await live.chain.anvil.rpc('anvil_setBalance', [address, '0x65']);
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences).to.deep.equal([1n]);
    expect((await aside(address))[0]).to.include({ amount_units: '1' });
    expect(await listed()).to.have.length(1);
  });
});
