import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { testContracts } from '../../../../dev/support/chain-contracts.ts';
import { INFOS, when } from '../../../../dev/tron/faults.ts';
import type { TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { hexAddress, keyOfHex } from '../../../../src/chains/address-key.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const STRANGER = keyOfHex('5e'.repeat(20));
/** What a node says at first, in the view that may still be replaced. */
const atFirst = (fault: TronFault): TronFault => when(({ view }) => view === 'wallet', fault);
const states = (rows: readonly Record<string, unknown>[]): unknown[] =>
  rows.map(({ amount_units: units, verified_at: at }) => [units, at !== null]);

describe('the second read of Tron', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
    await live.catchUp();
  });
  beforeEach(() => {
    live.endpoint.fault = undefined;
  });
  after(() => live?.stop());

  it('asks for the infos alone where a block did not touch us', async () => {
    await live.node.pay({ to: STRANGER, currency: 'USDT', units: 5n });
    await live.node.mine();
    await live.catchUp();
    await live.node.mine(4);
    live.asked();
    await live.catchUp();
    const asked = live.asked();
    expect(asked['walletsolidity/gettransactioninfobyblocknum']).to.equal(1);
    expect(asked['walletsolidity/getblockbynum']).to.equal(undefined);
  });

  it('asks for the body alone where a block showed no transactions: no infos would tell of them', async () => {
    await live.node.mine(3);
    await live.catchUp();
    await live.node.mine(4);
    live.asked();
    await live.catchUp();
    const asked = live.asked();
    const { 'walletsolidity/getblockbynum': single = 0, 'walletsolidity/getblockbylimitnext': several = 0 } =
      asked;
    expect(single + several).to.be.above(0);
    expect(asked).to.not.include.keys('walletsolidity/gettransactioninfobyblocknum');
    const [cursor] = await live.rows('select reread_number, scanned_number from chain_cursors');
    expect(Number(cursor?.['reread_number'])).to.equal(live.node.solidHeight());
  });

  it('reads a block whole that touched us, and verifies what it holds', async () => {
    const quietBlocks = async (): Promise<void> => {
      for (let mined = 0; mined < 4; mined += 1) {
        await live.node.pay({ to: STRANGER, currency: 'TRX', units: 1n });
        await live.node.mine();
      }
    };
    const address = await live.newAddress();
    await quietBlocks();
    await live.node.pay({ to: address, currency: 'USDT', units: 6n });
    await live.node.mine();
    await live.catchUp();
    await quietBlocks();
    live.asked();
    await live.catchUp();
    expect(live.asked()['walletsolidity/getblockbynum']).to.equal(1);
    expect(states(await live.deposits(address))).to.deep.equal([['6', true]]);
  });

  it('finds what the first answer left out, where the call names our address', async () => {
    const address = await live.newAddress();
    const payer = await live.node.deploy(testContracts().Payer);
    await live.node.pay({ to: payer.key, currency: 'USDT', units: 1_000n });
    await live.node.mine();
    await live.catchUp();
    live.endpoint.fault = atFirst(INFOS.withoutLogs);
    await payer.call('pay', [hexAddress(live.node.usdt.key), [hexAddress(address)], [7n]]);
    await live.node.mine();
    await live.catchUp();
    expect(await live.deposits(address)).to.deep.equal([]);
    const { foundLate } = live.seen;
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal([['7', true]]);
    expect(live.seen.foundLate - foundLate).to.equal(1);
  });

  it('finds TRX that a contract passed on and the first answer did not show, where nothing names our address', async () => {
    const address = await live.newAddress();
    // The receiver is kept by the code, and no call names it.
    const heir = await live.node.deploy(testContracts().Heir, [STRANGER, 0n, address]);
    await live.node.trigger({ contract: heir.key, data: '', valueSun: 500n });
    await live.finish();
    live.endpoint.fault = atFirst(INFOS.withoutInternals);
    await heir.call('pay', [8n]);
    await live.node.mine();
    await live.catchUp();
    expect(await live.deposits(address)).to.deep.equal([]);
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal([['8', true]]);
  });

  it('is of what was shown at first where the infos are those of another block', async () => {
    const address = await live.newAddress();
    await live.node.pay({ to: address, currency: 'TRX', units: 9n });
    await live.node.mine();
    await live.catchUp();
    live.endpoint.fault = when(({ view }) => view === 'walletsolidity', INFOS.ofAnotherFork);
    await live.node.mine(5);
    await live.catchUp().catch(() => undefined);
    expect(states(await live.deposits(address))).to.deep.equal([['9', false]]);
    live.endpoint.fault = undefined;
    await live.catchUp();
    expect(states(await live.deposits(address))).to.deep.equal([['9', true]]);
  });

  it('keeps a deposit that came to lie in a quiet block between the reads', async () => {
    const address = await live.newAddress();
    const txHash = await live.node.pay({ to: address, currency: 'TRX', units: 10n });
    const number = await live.node.mine();
    await live.catchUp();
    // As if the block had been read before the address was known, and the deposit recorded by a rescan.
    const fingerprint = createHash('sha256').update(txHash).digest('hex');
    await live.rows('update chain_blocks set fingerprint = ? where number = ?', [fingerprint, number]);
    await live.finish();
    expect(states(await live.deposits(address))).to.deep.equal([['10', true]]);
  });
});

describe('the second read of a young chain of Tron', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher();
  });
  after(() => live?.stop());

  it('reads a chain from its first block on', async () => {
    await live.newAddress();
    // However long the start took, no block is older than it.
    await live.rows("update deposit_addresses set created_at = created_at - interval '1 hour'");
    await live.catchUp();
    const [cursor] = await live.rows('select first_block, reread_number from chain_cursors');
    expect(Number(cursor?.['first_block'])).to.equal(1);
    expect(Number(cursor?.['reread_number'])).to.equal(live.node.solidHeight());
  });
});

describe('the second read of Tron within a small budget', function () {
  this.timeout(60_000);
  let live: TronWatcher;
  before(async () => {
    live = await startTronWatcher({ readsAllAgain: false });
    await live.catchUp();
  });
  after(() => live?.stop());

  it('asks again for blocks that touch us alone', async () => {
    const address = await live.newAddress();
    await live.node.pay({ to: STRANGER, currency: 'USDT', units: 5n });
    await live.node.mine();
    await live.node.pay({ to: address, currency: 'USDT', units: 5n });
    await live.node.mine();
    await live.catchUp();
    await live.node.mine(4);
    live.asked();
    await live.catchUp();
    const asked = live.asked();
    expect(asked['walletsolidity/getblockbynum']).to.equal(1);
    expect(asked['walletsolidity/gettransactioninfobyblocknum']).to.equal(1);
    expect(states(await live.deposits(address))).to.deep.equal([['5', true]]);
  });
});
