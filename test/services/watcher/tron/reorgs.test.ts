// Blocks that are replaced before they are final, by a fork or by a node that is started again.
import { expect } from 'chai';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { decideToFail, releaseDeposit } from '../../../../src/services/deposits/operator.ts';
import { advanced, heal, paid, remembered, secondOf, states } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

describe('blocks of Tron that are replaced', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ solidDistance: 10 });
    await live.catchUp();
  });
  after(() => live?.stop());
  const onlyDeposit = async (address: AddressKey) => {
    const all = await live.deposits(address);
    expect(all).to.have.length(1);
    return all[0] ?? {};
  };
  /** What the ledger says of an address, by account; nothing where that is zero. */
  const ledger = async (address: AddressKey): Promise<Record<string, unknown>> => {
    const rows = await live.rows(
      `select e.account, sum(e.amount_units)::text as sum from ledger_entries e
       join ledger_transactions t on t.id = e.transaction_id join deposits d on d.id = t.deposit_id
       where d.address_key = ? group by e.account having sum(e.amount_units) <> 0`,
      [address],
    );
    return Object.fromEntries(rows.map(({ account, sum }) => [String(account), sum]));
  };
  /** Follows until everything is final and has the confirmations that it needs. */
  const settle = async (): Promise<void> => {
    await live.node.mine(25);
    await live.catchUp();
  };

  it('take their payments along, and what comes in the others is read', async () => {
    const { address } = await paid(live, { currency: 'USDT', units: 80n });
    await live.node.mine(2);
    await live.catchUp();
    await live.node.replace(3);
    const other = await paid(live, { currency: 'TRX', units: 81n });
    await live.catchUp();
    expect(await onlyDeposit(address)).to.include({ block_hash: null, amount_units: '80' });
    expect(states(await live.deposits(other.address))).to.deep.equal(['81 TRX']);
    await settle();
    expect(await advanced(live, address)).to.deep.equal(['failed']);
    expect(await advanced(live, other.address)).to.deep.equal(['completed']);
  });

  it('may hold the payment again elsewhere: one deposit, in the block where it is now', async () => {
    const { address, txHash, number } = await paid(live, { currency: 'USDT', units: 82n });
    await live.node.mine(2);
    await live.catchUp();
    await live.node.replace(3, { keep: 'moved' });
    await live.node.mine();
    await live.catchUp();
    const moved = await onlyDeposit(address);
    expect(moved['transaction_hash']).to.equal(txHash);
    expect(Number(moved['block_number'])).to.be.above(number);
    await settle();
    expect(states(await live.deposits(address))).to.deep.equal(['82 USDT verified']);
    expect(await advanced(live, address)).to.deep.equal(['completed']);
  });

  it('may be at the same height again, under another id', async () => {
    const { address, number } = await paid(live, { currency: 'TRX', units: 83n });
    await live.catchUp();
    const before = await onlyDeposit(address);
    await live.node.replace(1, { keep: 'moved' });
    await live.node.mine();
    await live.catchUp();
    const after = await onlyDeposit(address);
    expect(Number(after['block_number'])).to.equal(number);
    expect(after['block_hash']).not.to.equal(before['block_hash']);
    await settle();
    expect(await advanced(live, address)).to.deep.equal(['completed']);
  });

  it('bring back a payment that was withdrawn, once it is mined again', async () => {
    const { address, txHash } = await paid(live, { currency: 'USDT', units: 84n });
    await live.catchUp();
    await live.node.replace(1);
    await settle();
    expect(await advanced(live, address)).to.deep.equal(['failed']);
    await live.node.again(txHash);
    await live.node.mine();
    await live.catchUp();
    await settle();
    await advanced(live, address);
    const all = await live.deposits(address);
    const open = all.filter(({ status }) => status !== 'failed');
    expect(open.map((row) => [row['transaction_hash'], row['amount_units'], row['status']])).to.deep.equal([
      [txHash, '84', 'completed'],
    ]);
  });

  it('hold what an operator refused while it is in a block, and credit it once when it is released', async () => {
    const { address, txHash } = await paid(live, { currency: 'USDT', units: 87n });
    await live.catchUp();
    const decision = { depositId: String((await onlyDeposit(address))['id']), by: 'Ann' };
    await decideToFail(live.deps, { ...decision, reason: 'a sanctioned sender' });
    expect(await ledger(address)).to.deep.equal({ chain: '-87', held: '87' });
    for (let times = 0; times < 2; times++) {
      await live.node.replace(1);
      await live.catchUp();
      expect(await onlyDeposit(address)).to.include({
        failure_code: 'REJECTED_BY_OPERATOR',
        block_hash: null,
      });
      expect(await ledger(address), 'on no address of ours any more').to.deep.equal({});
      await live.node.again(txHash);
      await live.node.mine();
      await live.catchUp();
      expect(await ledger(address)).to.deep.equal({ chain: '-87', held: '87' });
    }
    await settle();
    await releaseDeposit(live.deps, { ...decision, reason: 'it was a mistake' });
    expect(await ledger(address)).to.deep.equal({ available: '87', chain: '-87' });
  });

  it('are lost where the node is started again, with what came twice credited once and what is gone withdrawn', async () => {
    const again = await paid(live, { currency: 'USDT', units: 85n });
    const gone = await paid(live, { currency: 'TRX', units: 86n });
    await live.node.mine(4);
    await live.catchUp();
    const before = await onlyDeposit(again.address);
    await live.node.restart();
    expect(live.node.head().header.number).to.be.below(again.number);
    await live.catchUp();
    await live.node.mine(2);
    await live.node.again(again.txHash);
    await live.node.mine(8);
    await live.catchUp();
    const after = await onlyDeposit(again.address);
    expect(after['block_hash']).to.be.a('string').that.is.not.equal(before['block_hash']);
    await settle();
    expect(await advanced(live, again.address)).to.deep.equal(['completed']);
    expect(await advanced(live, gone.address)).to.deep.equal(['failed']);
  });
});

describe('two endpoints of Tron, one of which stands on blocks that were replaced', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ solidDistance: 10, others: 1 });
    await live.catchUp();
  });
  beforeEach(() => {
    heal(live);
    live.restart();
  });
  after(() => live?.stop());

  for (const which of ['preferred', 'other'] as const) {
    it(`credit once what both have in the end, where it is the ${which} one`, async () => {
      const { address, txHash } = await paid(live, { currency: 'USDT', units: 90n });
      const lost = await paid(live, { currency: 'TRX', units: 91n });
      await live.node.mine(3);
      await live.catchUp();
      // What one of them still answers from: the chain as it was.
      const old = await remembered(live);
      await live.node.restart();
      await live.node.mine(2);
      await live.node.again(txHash);
      await live.node.mine(10);
      const stale = which === 'preferred' ? live.endpoint : secondOf(live);
      stale.fault = ({ path, body }) => ({ json: old(path, body) });
      for (let looks = 0; looks < 3; looks += 1) {
        await live.tryToCatchUp(2);
        await live.node.mine();
      }
      heal(live);
      live.later(61_000);
      await live.node.mine(11);
      await live.tryToCatchUp(4);
      expect(states(await live.deposits(address))).to.deep.equal(['90 USDT verified']);
      expect(await advanced(live, address)).to.deep.equal(['completed']);
      expect(await advanced(live, lost.address)).to.deep.equal(['failed']);
    });
  }
});
