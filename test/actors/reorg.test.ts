import { expect } from 'chai';
import { USDT_UNIT } from '../../dev/support/chain.ts';
import { eventually } from '../../dev/support/eventually.ts';
import { type LiveMoney, startLiveMoney } from '../../dev/support/live-money.ts';

/**
 * Blocks that are replaced before they are final. Ten confirmations
 * keep finality (two blocks) below the depth of the test's reorgs.
 */
describe('a chain that replaces blocks', function () {
  this.timeout(90_000);
  let live: LiveMoney;

  before(async () => {
    live = await startLiveMoney({ env: { BSC_CONFIRMATIONS: '4' } });
  });
  after(async () => {
    await live?.stop();
  });

  const rowOf = async (hash: string) => (await live.deposits(hash))[0];
  /** The signed form of a transaction that is already in a block, to put it into another one. */
  const rawOf = async (hash: string) =>
    String(await live.chain.anvil.rpc('eth_getRawTransactionByHash', [hash]));
  const scannedTo = (block: number) =>
    eventually(`block ${block} scanned`, async () => {
      const [cursor] = await live.gateway.deps.orm.em
        .fork()
        .execute<{ scanned_number: string }[]>('select scanned_number from chain_cursors');
      return Number(cursor?.scanned_number) >= block;
    });
  const eventsOf = (hash: string) =>
    live
      .events()
      .filter((item) => item.data['transaction_hash'] === hash)
      .map((item) => item.event);

  it('withdraws a deposit whose transaction is in no block any more, once finality has passed', async () => {
    const before = await live.ledger();
    const hash = await live.chain.usdt.call('transfer', [live.address, 3n * USDT_UNIT]);
    await live.chain.mine(1);
    await scannedTo(await live.chain.mine(2));
    await live.eventOf('deposit.confirming', hash);
    await live.chain.reorg(3);
    await eventually('the deposit without a block', async () => (await rowOf(hash))?.['block_hash'] === null);
    expect(await rowOf(hash)).to.include({ status: 'confirming' });
    await live.chain.mine(5);
    const failed = await live.eventOf('deposit.failed', hash);
    expect(failed).to.include({ status: 'failed', failure_code: 'REORGED', block_hash: null });
    expect(eventsOf(hash)).to.not.include('deposit.completed');
    const after = await live.ledger();
    expect(after['pending']).to.equal(before['pending'] ?? 0n);
    expect(after['chain']).to.equal(before['chain'] ?? 0n);
  });

  it('binds a deposit to the block its transaction moved to, and completes it once', async () => {
    const hash = await live.chain.usdt.call('transfer', [live.address, 5n * USDT_UNIT]);
    const first = await live.chain.mine(1);
    await scannedTo(await live.chain.mine(2));
    await live.eventOf('deposit.detected', hash);
    const raw = await rawOf(hash);
    await live.chain.anvil.rpc('anvil_reorg', [3, [[raw, 1]]]);
    await live.chain.mine(1);
    await eventually('the new block', async () => {
      const row = await rowOf(hash);
      return row?.['block_hash'] !== null && Number(row?.['block_number']) === first + 1;
    });
    await live.chain.mine(6);
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({ amount: '5', block_number: first + 1 });
    expect(eventsOf(hash).filter((name) => name === 'deposit.completed')).to.have.length(1);
    expect(eventsOf(hash)).to.not.include('deposit.failed');
    expect(await live.deposits(hash)).to.have.length(1);
  });

  it('begins a new generation when the transaction is mined again after it had failed', async () => {
    const available = (await live.ledger())['available'] ?? 0n;
    const hash = await live.chain.usdt.call('transfer', [live.address, 7n * USDT_UNIT]);
    await live.chain.mine(1);
    await live.eventOf('deposit.detected', hash);
    const raw = await rawOf(hash);
    await scannedTo(await live.chain.mine(2));
    await live.chain.reorg(3);
    await live.chain.mine(5);
    await live.eventOf('deposit.failed', hash);
    await live.chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await live.chain.mine(7);
    const completed = await live.eventOf('deposit.completed', hash);
    expect(completed).to.include({ amount: '7', status: 'completed', failure_code: null });
    expect(Number(completed['sequence'])).to.be.greaterThan(3);
    expect(await rowOf(hash)).to.include({ generation: 2 });
    expect(await live.deposits(hash)).to.have.length(1);
    expect((await live.ledger())['available']).to.equal(available + 7n * USDT_UNIT);
    expect((await live.ledger())['pending']).to.equal(0n);
  });

  it('is followed across a restart of the worker in the middle of it', async () => {
    const available = (await live.ledger())['available'] ?? 0n;
    const gone = await live.chain.usdt.call('transfer', [live.address, 11n * USDT_UNIT]);
    await live.chain.mine(1);
    await live.eventOf('deposit.detected', gone);
    await live.gateway.stopWorker();
    await live.chain.reorg(1);
    const stays = await live.chain.usdt.call('transfer', [live.address, 13n * USDT_UNIT]);
    await live.chain.mine(8);
    await live.gateway.startWorker();
    await live.eventOf('deposit.failed', gone, 40_000);
    await live.eventOf('deposit.completed', stays, 40_000);
    expect((await live.ledger())['available']).to.equal(available + 13n * USDT_UNIT);
  });
});
