import { expect } from 'chai';
import { CursorMoved, moveCursor, readCursor } from '../../../src/services/watcher/cursor.ts';
import { bscStage, cursorOf } from './asked.ts';
import { lying } from './lies.ts';

/** What the first and the second read of a block do with what they find, on a real database. */
describe('blocks that are read twice', () => {
  const { live, payer } = bscStage({ longestRestMs: 50 });

  const cursor = () => cursorOf(live);
  const readsOf = (number: number) =>
    live.proxy.calls.filter(
      (call) =>
        call.method === 'eth_getBlockByNumber' &&
        call.params[0] === `0x${number.toString(16)}` &&
        call.params[1],
    );

  it('finds late what the first read had missed, records it, and counts it', async () => {
    const address = await live.newAddress();
    live.proxy.fault = lying(address, { logs: () => [] });
    const txHash = await live.chain.usdt.call('transfer', [address, 9n]);
    await live.chain.mine();
    await live.catchUp();
    expect(await live.deposits(address)).to.deep.equal([]);
    live.proxy.fault = undefined;
    await live.finish();
    expect((await live.deposits(address))[0]).to.include({ transaction_hash: txHash, amount_units: '9' });
    expect((await live.deposits(address))[0]?.['verified_at']).to.not.equal(null);
    expect(live.seen.foundLate).to.equal(1);
    expect(
      live.api.lines.some((line) => line.text === 'the second read found deposits that the first had missed'),
    ).to.equal(true);
    expect(live.seen.heights).to.equal(Number((await cursor())['scanned_number']));
  });

  it('lets one watcher alone move on: what another writes that began before is refused whole', async () => {
    const stale = await readCursor(live.deps, 'bsc');
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 8n]);
    await live.chain.mine();
    await live.catchUp();
    const before = await cursor();
    const moved = moveCursor(live.deps.orm.em.fork(), live.deps, stale ?? expect.fail('no cursor'), {
      scannedNumber: Number(before['scanned_number']) - 1,
    });
    expect(await moved.catch((error: unknown) => error)).to.be.instanceOf(CursorMoved);
    expect(await cursor()).to.deep.equal(before);
  });

  it('catches up with one read of each block that was final for long, and two of the young ones, and loses nothing', async () => {
    await live.catchUp();
    const first = Number((await cursor())['scanned_number']) + 1;
    const address = await live.newAddress();
    const early = await live.chain.usdt.call('transfer', [address, 1n]);
    await live.chain.mine(200);
    const late = await payer.call('payCoin', [address, 2n]);
    const head = await live.chain.mine(5);
    live.proxy.calls.length = 0;
    await live.catchUp();
    const reads = (from: number, to: number) =>
      new Set(Array.from({ length: to - from + 1 }, (_, index) => readsOf(from + index).length));
    expect([...reads(first + 3, head - 150)]).to.deep.equal([1]);
    expect([...reads(head - 100, head - 3)]).to.deep.equal([2]);
    expect((await live.deposits(address)).map((row) => row['transaction_hash'])).to.have.members([
      early,
      late,
    ]);
    expect((await live.deposits(address)).every((row) => row['verified_at'] !== null)).to.equal(true);
    expect(Number((await cursor())['verified_number'])).to.equal(head - 2);
  });

  it('commits the quiet blocks of a backlog together, and what was read before a block that fails', async () => {
    await live.catchUp();
    const start = await cursor();
    const first = Number(start['scanned_number']) + 1;
    const address = await live.newAddress();
    await live.chain.mine(40);
    const paid = await live.chain.usdt.call('transfer', [address, 1n]);
    await live.chain.mine(200);
    const bad = `0x${(first + 60).toString(16)}`;
    live.proxy.fault = (call) => (call.params[0] === bad ? { status: 500, body: '' } : undefined);
    expect(await live.catchUp().catch(() => 'it stops')).to.equal('it stops');
    const stopped = await cursor();
    expect(Number(stopped['scanned_number']), 'up to the one that failed').to.equal(first + 59);
    expect(stopped['reread_number'], 'read for good').to.equal(stopped['scanned_number']);
    expect(stopped['verified_number'], 'not before the run reaches a block that is final').to.equal(
      start['verified_number'],
    );
    expect(Number(stopped['version']) - Number(start['version'])).to.be.below(20);
    expect((await live.deposits(address))[0]).to.include({
      transaction_hash: paid,
      block_number: String(first + 40),
    });
    live.proxy.fault = undefined;
    await live.catchUp();
    const kept = (
      await live.rows('select number from chain_blocks where number >= ? order by number', [first + 60])
    ).length;
    expect(kept, 'every block has its row').to.equal(
      Number((await cursor())['scanned_number']) - (first + 60) + 1,
    );
  });
});
