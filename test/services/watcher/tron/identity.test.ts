import { expect } from 'chai';
import { always, otherChain } from '../../../../dev/tron/faults.ts';
import { ChainMismatch } from '../../../../src/chains/rpc/errors.ts';
import { RescanStopped, rescan } from '../../../../src/services/watcher/rescan.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

const { signal } = new AbortController();
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('a watcher that starts again', function () {
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

  it('refuses another chain behind the same address, and goes on when it is the old one again', async () => {
    const [before] = await live.rows('select identity, scanned_number from chain_cursors');
    expect(before?.['identity']).to.equal(live.node.genesisId);
    live.endpoint.fault = otherChain;
    live.restart();
    await live.node.mine(3);
    expect(await failureOf(live.catchUp())).to.be.instanceOf(ChainMismatch);
    expect(await live.rows('select identity, scanned_number from chain_cursors')).to.deep.equal([before]);
    live.endpoint.fault = undefined;
    live.restart();
    await live.catchUp();
    const [after] = await live.rows('select identity, scanned_number from chain_cursors');
    expect(Number(after?.['scanned_number'])).to.equal(live.node.head().header.number);
  });

  it('asks five times for a block that it reads again, and no sixth time', async () => {
    let scans = 0;
    const { reader, watched } = live.watchedChain;
    const counting = {
      ...reader,
      scan: (...asked: Parameters<typeof reader.scan>) => {
        scans += 1;
        return reader.scan(...asked);
      },
    };
    live.endpoint.fault = always('reset');
    const range = { from: 3, to: 3, signal, progress: () => undefined };
    const failure = await failureOf(rescan(live.deps, { reader: counting, watched }, range));
    expect(failure).to.be.instanceOf(RescanStopped);
    expect(scans).to.equal(5);
  });
});
