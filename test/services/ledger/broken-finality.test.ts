import { expect } from 'chai';
import { AddressSet } from '../../../src/chains/address-set.ts';
import { auditLedger } from '../../../src/services/ledger/audit.ts';
import { FinalityContradiction } from '../../../src/services/watcher/anchor.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { startWorld, type World } from './support.ts';

const { signal } = new AbortController();

describe('a replaced block that was final, with one endpoint', function () {
  this.timeout(120_000);
  let world: World;
  before(async () => {
    world = await startWorld();
    // Followed from the first block on, when nothing was final yet.
    await world.poll();
  });
  after(() => world?.stop());

  const cursor = async () => (await world.rows('select * from chain_cursors'))[0] ?? {};
  async function expectCaughtUp(): Promise<void> {
    const { chain } = world;
    const row = await cursor();
    expect(row).to.include({
      scanned_number: String(chain.blocks.length - 1),
      scanned_hash: chain.blocks.at(-1)?.hash,
    });
    expect(row['verified_number']).to.equal(String(chain.final));
    expect((await auditLedger(world.deps)).differences).to.deep.equal([]);
  }
  /** Everything that was read is final, and the watcher stands on the very block that was named last. */
  async function standOnAnchor(): Promise<void> {
    const { chain } = world;
    chain.mine();
    chain.final = chain.blocks.length - 1;
    await world.poll();
    expect(await cursor()).to.include({
      anchored_number: String(chain.final),
      scanned_number: String(chain.final),
    });
  }

  it('is left as soon as the chain names a final block above it, and until then nothing is withdrawn', async () => {
    const { chain } = world;
    await standOnAnchor();
    const before = await cursor();
    chain.mine();
    const final = chain.final;
    chain.replace(2);
    chain.final = final - 1;
    const refused = await world.poll().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(FinalityContradiction);
    expect(await cursor()).to.include({
      scanned_hash: before['scanned_hash'],
      verified_number: before['verified_number'],
    });
    chain.final = chain.blocks.length - 1;
    await world.poll();
    await expectCaughtUp();
  });

  it('is no reason to leave it where a second endpoint still has it: that is said, with what to do', async () => {
    const { chain, deps } = world;
    await standOnAnchor();
    const before = await cursor();
    const mine = chain.blocks[chain.final];
    chain.mine();
    chain.replace(2);
    chain.final = chain.blocks.length - 1;
    const reader = chain.reader();
    const views: typeof reader.views = async (number, stop) => {
      const [one] = await reader.views(number, stop);
      if (!one || !mine) throw new Error('nothing to see');
      return [one, { ...one, host: 'other', head: mine, finalized: mine, block: mine }];
    };
    const two = {
      reader: { ...reader, endpoints: 2, views },
      watched: { network: 'bsc' as const, index: new AddressSet(), loadedXid: '0' },
    };
    const refused = await pollChain(deps, two, signal).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(FinalityContradiction);
    expect((refused as FinalityContradiction).action).to.match(
      /take the endpoint that is on the wrong branch out/,
    );
    const after = await cursor();
    expect(after).to.include({
      scanned_hash: before['scanned_hash'],
      verified_number: before['verified_number'],
    });
    expect((after['stops'] as Record<string, unknown>)['roll-back']).to.not.equal(undefined);
  });
});
