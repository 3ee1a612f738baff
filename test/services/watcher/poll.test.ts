import { expect } from 'chai';
import { type Contract, USDT_UNIT } from '../../../dev/support/chain.ts';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import type { RpcCall } from '../../../dev/support/fault-proxy.ts';
import { createProgress } from '../../../src/services/watcher/progress.ts';
import { NO_TRACES, startTestWatcher, type TestWatcher, without } from './test-watcher.ts';

type Receipt = { logs: unknown[]; logsBloom?: string };

/** What the first and the second read of a block do with what they find, on a real database. */
describe('blocks that are read twice', function () {
  this.timeout(60_000);
  let live: TestWatcher;
  let payer: Contract;

  before(async () => {
    live = await startTestWatcher();
    payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 10n * USDT_UNIT });
    await live.finish();
  });
  after(() => live?.stop());
  afterEach(() => {
    live.proxy.fault = undefined;
    live.seen.foundLate = 0;
  });
  const cursor = async () => (await live.rows('select * from chain_cursors'))[0] ?? {};
  const readsOf = (number: number) =>
    live.proxy.calls.filter(
      (call) =>
        call.method === 'eth_getBlockByNumber' &&
        call.params[0] === `0x${number.toString(16)}` &&
        call.params[1],
    );

  it('finds late what the first read had missed, records it, and counts it', async () => {
    const address = await live.newAddress();
    // A node that leaves logs out in a way that neither count nor bloom shows: every bloom is gone.
    live.proxy.fault = async (call: RpcCall, forward) => {
      if (call.method !== 'eth_getBlockReceipts' && call.method !== 'eth_getBlockByNumber') return undefined;
      const answer = await forward();
      const result = answer.result as Receipt[] | Record<string, unknown>;
      if (!Array.isArray(result)) return { json: { ...answer, result: { ...result, logsBloom: undefined } } };
      return {
        json: {
          ...answer,
          result: result.map((receipt) => ({ ...receipt, logs: [], logsBloom: undefined })),
        },
      };
    };
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

  it('reads a new block twice, the second time when it is final', async () => {
    const number = await live.chain.mine();
    live.proxy.calls.length = 0;
    await live.finish();
    expect(readsOf(number)).to.have.length(2);
  });

  it('does not lose internal BNB because the second read has no trace of the same block', async () => {
    const address = await live.newAddress();
    const txHash = await payer.call('payCoin', [address, 77n]);
    await live.chain.mine();
    await live.catchUp();
    live.proxy.fault = without(...NO_TRACES);
    await live.finish();
    const [deposit] = await live.deposits(address);
    expect(deposit).to.include({ transaction_hash: txHash, amount_units: '77' });
    expect(deposit?.['verified_at']).to.not.equal(null);
    expect(deposit?.['block_hash']).to.not.equal(null);
  });

  it('takes internal BNB back when the block was replaced by one without it', async () => {
    const address = await live.newAddress();
    await payer.call('payCoin', [address, 78n]);
    await live.chain.mine();
    await live.catchUp();
    await live.chain.reorg(1);
    live.proxy.fault = without(...NO_TRACES);
    await live.finish();
    expect((await live.deposits(address))[0]).to.include({ block_hash: null });
  });

  it('catches up with one read of each block that was final for long, and two of the young ones, and loses nothing', async () => {
    await live.catchUp();
    const first = Number((await cursor())['scanned_number']) + 1;
    const address = await live.newAddress();
    const early = await live.chain.usdt.call('transfer', [address, 1n]);
    await live.chain.mine(300);
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
    await live.chain.mine(300);
    const bad = `0x${(first + 60).toString(16)}`;
    live.proxy.fault = (call) => (call.params[0] === bad ? { status: 500, body: '' } : undefined);
    await live.catchUp().then(
      () => expect.fail('a block that cannot be read was passed'),
      () => undefined,
    );
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
