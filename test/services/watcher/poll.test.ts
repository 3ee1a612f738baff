import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Answer } from '../../../dev/support/fault-proxy.ts';
import { CursorMoved, moveCursor, readCursor } from '../../../src/services/watcher/cursor.ts';
import { createProgress } from '../../../src/services/watcher/progress.ts';
import { stallingBsc } from '../../actors/support/stalling.ts';
import { bscStage, cursorOf } from './asked.ts';
import { lying } from './lies.ts';
import { NO_TRACES, without } from './test-watcher.ts';

/** What the first and the second read of a block do with what they find, on a real database. */
describe('blocks that are read twice', () => {
  const { live, payer } = bscStage({ longestRestMs: 50 });
  afterEach(() => {
    live.seen.foundLate = 0;
  });

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

  it('reads a new block twice, the second time when it is final', async () => {
    const number = await live.chain.mine();
    live.proxy.calls.length = 0;
    await live.finish();
    expect(readsOf(number)).to.have.length(2);
  });

  it('costs four calls for a new block, beside those for the head and for what is final, where no trace is offered', async () => {
    live.proxy.fault = without(...NO_TRACES);
    const [from = '', to = ''] = live.chain.accounts;
    await live.finish();
    live.proxy.calls.length = 0;
    const blocks = 12;
    for (let mined = 0; mined < blocks; mined += 1) {
      await live.chain.send({ from, to, valueUnits: 1n });
      await live.chain.mine();
      await live.catchUp();
    }
    const tags = live.proxy.calls.filter(({ params }) => params[0] === 'latest' || params[0] === 'finalized');
    // A question now and then is about the endpoint itself.
    expect((live.proxy.calls.length - tags.length) / blocks).to.be.within(4, 4.5);
  });

  it('takes up again where it stood once an endpoint that refused everything answers again', async () => {
    const address = await live.newAddress();
    const refusals: readonly Answer[] = [
      { status: 429, body: '' },
      { json: { jsonrpc: '2.0', id: 1, error: { code: -32005, message: 'limit exceeded' } } },
    ];
    for (const answer of refusals) {
      live.proxy.fault = () => answer;
      await live.chain.send({ to: address, valueUnits: 7n });
      await live.chain.mine();
      for (let polls = 0; polls < 3; polls += 1) await live.catchUp().catch(() => undefined);
      live.proxy.fault = undefined;
      await eventually('the head', () =>
        live.catchUp().then(
          () => true,
          () => false,
        ),
      );
    }
    await live.finish();
    expect((await live.deposits(address)).map((row) => row['verified_at'] !== null)).to.deep.equal([
      true,
      true,
    ]);
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

  it('remembers blocks of ours that wait to be final: each height once, so many at most, until they are', async () => {
    const address = await live.newAddress();
    const stalling = stallingBsc(live.chain, live.proxy);
    await live.finish();
    const final = await stalling.final();
    // As if each block of some minutes had been one of ours.
    live.watchedChain.awaited = Array.from({ length: 256 }, (_, at) => final + 1 + at);
    for (const more of [0, 1]) {
      await live.chain.send({ to: address, valueUnits: 10n ** 15n });
      await live.chain.mine(1 + 300 * more);
      await live.catchUp();
    }
    const awaited = live.watchedChain.awaited ?? [];
    expect([awaited.length, new Set(awaited).size]).to.deep.equal([256, 256]);
    stalling.heal();
    await live.finish();
    expect(live.watchedChain.awaited).to.deep.equal([]);
  });
});

describe('the progress that operators see', () => {
  const look = (scanned: number, scannedNumber: number, headNumber: number) => ({
    scanned,
    verified: 0,
    foundLate: 0,
    behind: true,
    cursor: {
      firstBlock: 0,
      scannedNumber,
      verifiedNumber: scannedNumber,
      headNumber,
      finalizedNumber: headNumber - 2,
    },
  });

  it('shows the rate of the last half minute and the time left, not the mean since the start', () => {
    let nowMs = 0;
    const progress = createProgress(() => nowMs);
    nowMs = 3_600_000;
    progress(look(0, 100, 100));
    nowMs += 1_000;
    progress(look(24, 124, 10_100));
    nowMs += 10_000;
    const text = progress(look(240, 364, 10_100));
    expect(text).to.equal(
      'scanned 364, head 10100, final 10098, read twice up to 364; 264 blocks since the start, 9736 to go at 24.0 blocks/s, about 7 min left',
    );
  });

  it('names no height that was not read: neither before the first block nor before the second read', () => {
    const { cursor, ...rest } = look(0, 99, 200);
    const first = { ...rest, cursor: { ...cursor, firstBlock: 100 } };
    expect(createProgress(() => 0)(first)).to.match(
      /^begins at 100, head 200, final 198, nothing read twice yet; /,
    );
    const further = { ...first, cursor: { ...first.cursor, scannedNumber: 150 } };
    expect(createProgress(() => 0)(further)).to.match(
      /^scanned 150, head 200, final 198, nothing read twice yet; /,
    );
  });

  it('says nothing of a rate when it is not behind', () => {
    expect(createProgress(() => 0)(look(1, 100, 100))).to.match(/; 1 blocks since the start$/);
  });
});
