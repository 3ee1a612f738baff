import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Contract } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { MULTICALL3 } from '../../../src/chains/bsc/balances.ts';
import { claimTransaction } from '../../../src/services/reconciliation/claim.ts';
import { listDifferences, reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { type Following, NO_TRACES, startFollowing, without } from '../watcher/following.ts';

const { signal } = new AbortController();
const COIN = 10n ** 18n;

/** Balances of the past are gone: only the newest blocks can be asked for. */
const FORGOTTEN = 'missing trie node 0xabc (path ) state 0xdef is not available';

describe('balances beside the ledger', function () {
  this.timeout(60_000);
  let live: Following;
  let payer: Contract;
  let keepsOldBalances = true;

  before(async () => {
    const noTraces = without(...NO_TRACES);
    live = await startFollowing({
      fault: async (call, forward) => {
        const asked =
          call.method === 'eth_getBalance'
            ? call.params[1]
            : call.method === 'eth_call'
              ? call.params[1]
              : undefined;
        if (!keepsOldBalances && typeof asked === 'string' && asked.startsWith('0x')) {
          const head = Number(await live.chain.anvil.rpc('eth_blockNumber'));
          if (Number(asked) < head - 4)
            return { json: { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: FORGOTTEN } } };
        }
        return await noTraces(call, forward);
      },
    });
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 100n * COIN });
    await live.chain.mine();
  });
  after(() => live?.stop());
  afterEach(() => {
    keepsOldBalances = true;
    live.seen.differences.length = 0;
    live.seen.foundLate = 0;
  });

  const open = async (address: string) =>
    await live.rows('select * from balance_differences where address_key = ?', [address.slice(2)]);
  const aside = async (address: string) =>
    await live.rows('select * from unrecognised_transfers where address_key = ?', [address.slice(2)]);

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
    const { deposits } = await claimTransaction(live.deps, live.followed, { txHash, signal });
    expect(deposits.map((deposit) => [deposit.transactionHash, deposit.amountUnits])).to.deep.equal([
      [txHash, 777n],
    ]);
    expect([await open(address), await aside(address)]).to.deep.equal([[], []]);
    await live.finish();
    await live.reconcile();
    expect(live.seen.differences).to.deep.equal([777n]);
    const again = await claimTransaction(live.deps, live.followed, { txHash, signal }).catch(
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

  it('find USDT whose block a reader had left out', async () => {
    const address = await live.newAddress();
    await live.finish();
    await live.reconcile();
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.finish();
    // As if no read had ever shown it.
    await live.rows(`alter table deposits disable trigger deposits_guard`);
    for (const table of ['ledger_entries', 'ledger_transactions', 'deposit_transitions', 'events'])
      await live.rows(`alter table ${table} disable trigger user`);
    await live.rows(
      'delete from ledger_entries where transaction_id in (select id from ledger_transactions where deposit_id in (select id from deposits where transaction_hash = ?))',
      [txHash],
    );
    await live.rows(
      'delete from ledger_transactions where deposit_id in (select id from deposits where transaction_hash = ?)',
      [txHash],
    );
    await live.rows(
      'delete from deposit_transitions where deposit_id in (select id from deposits where transaction_hash = ?)',
      [txHash],
    );
    await live.rows(
      'delete from events where subject_id in (select id from deposits where transaction_hash = ?)',
      [txHash],
    );
    await live.rows('delete from deposits where transaction_hash = ?', [txHash]);
    for (const table of [
      'deposits',
      'ledger_entries',
      'ledger_transactions',
      'deposit_transitions',
      'events',
    ])
      await live.rows(`alter table ${table} enable trigger all`);
    await live.reconcile();
    expect((await live.deposits(address))[0]).to.include({
      transaction_hash: txHash,
      amount_units: '9',
      currency: 'USDT',
    });
    expect(live.seen.foundLate).to.equal(1);
  });

  it('know what our own wallets sent, without crediting it', async () => {
    const address = await live.newAddress();
    const [, , , ownWallet = ''] = live.chain.accounts;
    live.followed.watched.index.add(ownWallet, 'gas');
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
    const refused = await claimTransaction(live.deps, live.followed, { txHash, signal }).catch(
      (error: Error) => error.message,
    );
    expect(refused).to.match(/does not pay a live address of ours/);
  });

  it('go on after a restart where the round stood, and use one call for many addresses where Multicall3 is there', async () => {
    await live.chain.anvil.rpc('anvil_setCode', [MULTICALL3, testContracts().Multicall3.runtime]);
    for (let i = 0; i < 5; i++) await live.newAddress();
    const address = await live.newAddress();
    const txHash = await payer.call('payCoin', [address, 4_321n]);
    await live.finish();
    const fresh = { ...live.followed, reader: live.newReader() };
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

  it('refuse to claim what is not final, not there, no hash, or not ours', async () => {
    const refusal = (txHash: string) =>
      claimTransaction(live.deps, live.followed, { txHash, signal }).catch((error: Error) => error.message);
    const address = await live.newAddress();
    await live.finish();
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.chain.mine();
    expect(await refusal(txHash)).to.match(/is not final yet or was not read twice/);
    expect(await refusal(`0x${'9'.repeat(64)}`)).to.match(/no endpoint of bsc has transaction/);
    expect(await refusal('0x1')).to.match(/is 0x and 64 hex digits/);
    const elsewhere = {
      ...live.followed,
      reader: { ...live.followed.reader, network: 'tron', locate: async () => undefined },
    } as const;
    const there = await claimTransaction(live.deps, elsewhere, { txHash: '9'.repeat(64), signal }).catch(
      String,
    );
    expect(there).to.match(/no endpoint of tron has transaction 9/);
    const foreign = await live.chain.usdt.call('transfer', [live.chain.accounts[5], 9n]);
    await live.finish();
    expect(await refusal(foreign)).to.match(/does not pay a live address of ours in BNB or USDT/);
    expect(await refusal(txHash)).to.match(/is recorded already/);
    expect(await live.deposits(address)).to.have.length(1);
  });
});
