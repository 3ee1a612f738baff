import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Contract } from '../../../dev/support/chain.ts';
import { firstOf } from '../../../dev/support/fault-proxy.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { listDifferences } from '../../../src/services/reconciliation/pass.ts';
import { claimed } from '../watcher/asked.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from '../watcher/test-watcher.ts';
import { asideAt, differencesAt, forgetDeposit, forgetful, fundedPayer } from './support.ts';

const { signal } = new AbortController();

describe('balances beside the ledger', () => {
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
  beforeEach(async () => {
    keepsOldBalances = true;
    await live.finish();
    await live.reconcile();
    live.seen.differences.length = 0;
    live.seen.foundLate = 0;
  });

  const open = (address: string) => differencesAt(live, address);
  const aside = (address: string) => asideAt(live, address);
  const found = async (address: string) =>
    (await live.deposits(address)).map((row) => [
      row['transaction_hash'],
      row['currency'],
      row['amount_units'],
    ]);
  const setBalance = (address: string, units: number) =>
    live.chain.anvil.rpc('anvil_setBalance', [address, `0x${units.toString(16)}`]);
  /** What became final is compared. */
  const compare = async (): Promise<void> => {
    await live.finish();
    expect(await live.reconcile()).to.include({ did: 'finished' });
  };
  const newAddresses = async (count: number): Promise<string[]> => {
    const made: string[] = [];
    for (let one = 0; one < count; one += 1) made.push(await live.newAddress());
    return made;
  };

  it('agree for plain transfers of both assets, and nothing is noted', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 5n]);
    await live.chain.send({ to: address, valueUnits: 7n });
    await compare();
    expect([await open(address), live.seen.differences]).to.deep.equal([[], []]);
  });

  it('find what no read showed by old balances: its transaction, whatever names the amount, once', async () => {
    const [named = '', unnamed = '', twice = '', token = ''] = await newAddresses(4);
    const inCall = await payer.call('payCoin', [named, 123_456_789n]);
    const number = await live.chain.mine();
    const inNone = await payer.call('passOn', [unnamed], { valueUnits: 55n });
    const first = await payer.call('payCoin', [twice, 1_000n]);
    await live.chain.mine(3);
    const second = await payer.call('payCoin', [twice, 2_000n]);
    const left = await live.chain.usdt.call('transfer', [token, 9n]);
    await live.finish();
    await forgetDeposit(live, left);
    for (const address of [named, unnamed, twice, token])
      expect(await live.deposits(address)).to.deep.equal([]);
    for (let passes = 0; passes < 2; passes += 1) {
      await live.reconcile();
      expect(await found(named)).to.deep.equal([[inCall, 'BNB', '123456789']]);
      expect(await found(unnamed)).to.deep.equal([[inNone, 'BNB', '55']]);
      expect(await found(token)).to.deep.equal([[left, 'USDT', '9']]);
      expect(await found(twice)).to.have.deep.members([
        [first, 'BNB', '1000'],
        [second, 'BNB', '2000'],
      ]);
      expect(live.seen.foundLate).to.equal(5);
      expect(await open(named)).to.deep.equal([]);
    }
    const [deposit] = await live.deposits(named);
    expect(deposit).to.include({ from_address: null, block_number: String(number) });
    expect(deposit?.['verified_at']).to.not.equal(null);
  });

  it('find BNB that a contract passed on from the calldata where no endpoint keeps old balances', async () => {
    const address = await live.newAddress();
    const txHash = await payer.call('payCoin', [address, 123_456_789n]);
    await live.chain.mine();
    await live.finish();
    keepsOldBalances = false;
    await live.reconcile();
    expect(await found(address)).to.deep.equal([[txHash, 'BNB', '123456789']]);
    expect(await open(address)).to.deep.equal([]);
  });

  it('set aside what nothing explains, tell the operator once, and credit it only when the transaction is claimed', async () => {
    const address = await live.newAddress();
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
    await compare();
    expect(live.seen.differences, 'the same difference alarms once').to.deep.equal([777n]);
    expect(await claimed(live, txHash)).to.deep.equal([777n]);
    expect(await found(address)).to.deep.equal([[txHash, 'BNB', '777']]);
    expect([await open(address), await aside(address)]).to.deep.equal([[], []]);
    await compare();
    expect(live.seen.differences).to.deep.equal([777n]);
    expect(await claimed(live, txHash)).to.match(/is recorded already; look at it with "deposit show/);
  });

  it('credit nothing that two transactions could explain, or none, and say how much differs', async () => {
    const [two = '', mention = '', reward = '', less = '', own = ''] = await newAddresses(5);
    const test = await live.newAddress('test');
    const [, , , ownWallet = ''] = live.chain.accounts;
    live.watchedChain.watched.index.add(ownWallet, 'gas');
    await payer.call('payCoin', [two, 31n]);
    await payer.call('payCoinAndSwallow', [two, 31n]);
    await payer.call('payCoinAndSwallow', [mention, 32n]);
    const plain = await live.chain.send({ to: reward, valueUnits: 10n });
    const whole = await live.chain.send({ to: less, valueUnits: 10n });
    await live.chain.send({ from: ownWallet, to: own, valueUnits: 12n });
    const tested = await payer.call('payCoin', [test, 99n]);
    await live.finish();
    // As a block reward comes, and as nothing may go.
    await setBalance(reward, 100);
    await setBalance(less, 4);
    await compare();
    expect([await found(two), (await aside(two))[0]?.['amount_units']]).to.deep.equal([[], '31']);
    expect([await found(mention), await open(mention)]).to.deep.equal([[], []]);
    expect(await found(reward)).to.deep.equal([[plain, 'BNB', '10']]);
    expect((await open(reward))[0]).to.include({ difference_units: '90' });
    expect((await open(less))[0]).to.include({
      difference_units: '-6',
      reason: 'less lies on the address than the ledger says',
    });
    expect([await found(less), await aside(less)]).to.deep.equal([[[whole, 'BNB', '10']], []]);
    expect([await found(own), await open(own)]).to.deep.equal([[], []]);
    expect((await aside(own))[0]).to.include({ amount_units: '12', reason: 'from one of our own wallets' });
    expect(await live.deposits(test)).to.deep.equal([]);
    expect((await aside(test))[0]).to.include({
      transaction_hash: tested,
      reason: 'real money on a test-mode address',
    });
    expect(await claimed(live, tested)).to.match(/pays none of our live addresses/);
    expect([...new Set(live.seen.differences)]).to.have.members([31n, 90n, -6n]);
    await setBalance(less, 10);
    await compare();
    expect(await open(less), 'forgotten when it is whole again').to.deep.equal([]);
  });

  it('take what lay on an address before it was one of ours for no difference', async () => {
    const address = await live.newAddress();
    await live.rows('delete from deposit_addresses where address_key = ? returning id', [address.slice(2)]);
    await setBalance(address, 100);
    await compare();
    const [customer] = await live.rows(
      'select id, merchant_id from customers order by created_at desc limit 1',
    );
    await live.rows(
      `insert into deposit_addresses (id, customer_id, merchant_id, mode, network, address, address_key,
        created_at) values (?, ?, ?, 'live', 'bsc', ?, ?, now())`,
      [randomUUID(), customer?.['id'], customer?.['merchant_id'], address, address.slice(2)],
    );
    live.seen.differences.length = 0;
    await compare();
    const listed = async () =>
      (await listDifferences(live.deps, 'bsc')).listed.filter(
        ({ kept }) => kept.addressKey === address.slice(2),
      ).length;
    expect([live.seen.differences, await aside(address), await listed()]).to.deep.equal([[], [], 0]);
    await setBalance(address, 101);
    await compare();
    expect([live.seen.differences, await listed()]).to.deep.equal([[1n], 1]);
    expect((await aside(address))[0]).to.include({ amount_units: '1' });
  });

  it('refuse to claim what is not final, not there, no hash, or not ours', async () => {
    const address = await live.newAddress();
    await live.finish();
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.chain.mine();
    expect(await claimed(live, txHash)).to.match(/is not final yet or was not read twice/);
    expect(await claimed(live, `0x${'9'.repeat(64)}`)).to.match(/no endpoint of bsc has transaction/);
    expect(await claimed(live, '0x1')).to.match(/is 0x and 64 hex digits/);
    const reader = { ...live.reader, network: 'tron', locate: async () => undefined } as const;
    const elsewhere = { ...live.watchedChain, reader };
    const there = claimTransaction(live.deps, elsewhere, { txHash: '9'.repeat(64), signal });
    expect(await there.catch(String)).to.match(/no endpoint of tron has transaction 9/);
    const foreign = await live.chain.usdt.call('transfer', [live.chain.accounts[5], 9n]);
    await live.finish();
    expect(await claimed(live, foreign)).to.match(/pays none of our live addresses in BNB or USDT/);
    expect(await claimed(live, txHash)).to.match(/is recorded already/);
    expect(await live.deposits(address)).to.have.length(1);
  });

  it('are proven where the balance of the address is what the ledger says, and only there', async () => {
    const [right = '', wrong = ''] = await newAddresses(2);
    for (const to of [right, wrong]) await live.chain.send({ to, valueUnits: 10n });
    await live.finish();
    // The block of the money itself can be asked no more: its balance would prove both.
    keepsOldBalances = false;
    await live.chain.mine(12);
    for (const to of [right, wrong])
      await live.rows('update deposits set verified_at = null where address_key = ? returning id', [
        to.slice(2),
      ]);
    await setBalance(wrong, 9);
    const verified = async (address: string) =>
      (await live.deposits(address)).map((row) => row['verified_at'] !== null);
    await compare();
    expect([await verified(right), await verified(wrong)]).to.deep.equal([[true], [false]]);
    await setBalance(wrong, 10);
    await compare();
    expect(await verified(wrong)).to.deep.equal([true]);
  });
});
