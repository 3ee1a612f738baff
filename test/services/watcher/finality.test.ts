import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { advancedTo, bscStage, cursorOf, depositOf, verifiedOf } from './asked.ts';
import { balancer, frozenNode, noBodies } from './branches.ts';
import { finality } from './lies.ts';
import type { Row } from './test-watcher.ts';

/** How long a node that hangs stays behind: more than the confirmations that a deposit needs. */
const BLOCKS_MISSED = 20;
/** Longer than an endpoint is left alone here. */
const RESTED_MS = 60;
const { signal } = new AbortController();
const away: Fault = () => ({ status: 503, body: '' });

/**
 * What is final is known by its hash, and by two endpoints where two answer: whichever node answers
 * which question, no orphan is completed and no good deposit withdrawn.
 */
describe('finality that is a hash', function () {
  this.timeout(120_000);
  const { live } = bscStage({ others: 1, longestRestMs: RESTED_MS / 2 });
  before(async () => {
    await live.chain.usdt.call('transfer', [live.chain.accounts[3], 1_000n]);
    await live.newAddress();
    await live.finish();
  });
  const second = () => live.others[0] ?? live.proxy;
  beforeEach(() => settled());

  function heal(): void {
    live.proxy.fault = undefined;
    second().fault = undefined;
  }
  const rowOf = (hash: string): Promise<Row> => depositOf(live, hash);
  const poll = () => pollChain(live.deps, live.watchedChain, signal);
  /** Polls as the watcher does: one that fails is followed by another, with the endpoints rested. */
  async function polls(count: number): Promise<void> {
    for (let done = 0; done < count; done += 1) {
      await poll().catch(() => undefined);
      await sleep(RESTED_MS);
    }
  }
  const settled = () =>
    eventually('the chain is followed to its end', async () => {
      const done = await poll().catch(() => undefined);
      return done?.cursor.verifiedNumber === (await live.chain.mine(0)) - 2;
    });
  /** Every step that the chain permits; why it waits, or the state at the end. */
  const advanced = async (hash: string): Promise<string> => {
    const { id } = await rowOf(hash);
    return id === undefined ? 'not seen' : await advancedTo(live.deps, id);
  };
  const rollBack = (blocks: number) => live.chain.anvil.rpc('anvil_rollback', [blocks]);
  const pay = async (from: string | undefined) =>
    await live.chain.usdt.call('transfer', [await live.newAddress(), 500n], { from: from ?? '' });
  const stops = async () =>
    (await cursorOf(live))['stops'] as Record<string, { reason: string; action: string }>;

  /**
   * A fork of one block; the cursor stands right below it. A node hangs at the block that was replaced, and
   * alone has the orphan; the chain alone has the good transfer, in a block of the same height.
   */
  async function fork() {
    const orphan = await pay(live.chain.accounts[3]);
    const height = await live.chain.mine();
    const hanging = await frozenNode(live.chain, height);
    await live.chain.reorg(1);
    // A block of another content in its place.
    await rollBack(1);
    const good = await pay(live.chain.accounts[0]);
    expect(await live.chain.mine()).to.equal(height);
    return { orphan, good, height, hanging };
  }

  it('does not complete an orphan that a hanging node shows while a better one refuses whole blocks, also across a restart', async () => {
    const { orphan, height, hanging } = await fork();
    await live.chain.mine(BLOCKS_MISSED);
    live.proxy.fault = noBodies;
    second().fault = hanging;
    await eventually('the orphan is read', async () => {
      await polls(1);
      return (await rowOf(orphan))['id'] !== undefined;
    });
    for (let looks = 0; looks < 3; looks += 1) {
      if (looks === 1) live.restart();
      expect(await advanced(orphan), `after look ${looks}`).to.not.equal('completed');
      await polls(1);
    }
    expect(await rowOf(orphan), 'it was seen').to.include({ block_number: String(height) });
    expect(await verifiedOf(live)).to.be.below(height);
    live.proxy.fault = undefined;
    await settled();
    expect(await advanced(orphan)).to.equal('failed');
    expect(await rowOf(orphan)).to.include({ failure_code: 'REORGED', block_hash: null });
  });

  it('does not withdraw a good deposit on the word of a node that hangs on a replaced block', async () => {
    const { good, height, hanging } = await fork();
    await live.chain.mine(BLOCKS_MISSED);
    await settled();
    const before = await rowOf(good);
    expect(before['verified_at']).to.not.equal(null);
    second().fault = hanging;
    live.proxy.fault = away;
    await polls(4);
    live.proxy.fault = noBodies;
    await live.chain.mine(1);
    await polls(4);
    expect(await rowOf(good)).to.include({ block_hash: before['block_hash'], block_number: String(height) });
    expect(await verifiedOf(live)).to.be.at.least(height + BLOCKS_MISSED - 2);
    expect(await advanced(good)).to.equal('completed');
  });

  for (const bodies of ['in turn', 'whole blocks from the one that hangs'] as const)
    it(`completes and withdraws nothing wrong behind a balancer that asks two nodes ${bodies}`, async () => {
      const { orphan, good, height, hanging } = await fork();
      let calls = 0;
      const turns = balancer(hanging, () => bodies === 'in turn' && ++calls % 2 === 0);
      const mixed: Fault = (call, forward) =>
        bodies !== 'in turn' && (call.params[1] === true || call.method === 'eth_getBlockReceipts')
          ? hanging(call, forward)
          : turns(call, forward);
      live.proxy.fault = mixed;
      second().fault = mixed;
      for (let blocks = 0; blocks < BLOCKS_MISSED; blocks += 4) {
        await live.chain.mine(4);
        await polls(2);
        expect(await advanced(orphan), `${blocks} blocks later`).to.not.equal('completed');
        expect(await advanced(good), `${blocks} blocks later`).to.not.equal('failed');
      }
      heal();
      await settled();
      expect(await advanced(good)).to.equal('completed');
      expect(await advanced(orphan)).to.be.oneOf(['failed', 'not seen']);
      expect(await rowOf(good)).to.include({ block_number: String(height), generation: 1 });
    });

  it('does not complete what a backlog read on a branch that was replaced', async () => {
    const scanned = Number((await cursorOf(live))['scanned_number']);
    const orphan = await pay(live.chain.accounts[0]);
    const top = await live.chain.mine(150);
    // What it calls final lies below the fork: it knows of no finality on its branch.
    const hanging = await frozenNode(live.chain, scanned + 1, top - scanned + 3);
    await rollBack(top - scanned);
    await live.chain.usdt.call('transfer', [live.chain.accounts[5], 1n]);
    await live.chain.mine(170);
    live.proxy.fault = noBodies;
    second().fault = hanging;
    await eventually('the orphan is read', async () => {
      await polls(1);
      return (await rowOf(orphan))['block_hash'] != null;
    });
    await polls(3);
    expect(await verifiedOf(live), 'nothing of it is verified').to.equal(scanned - 2);
    expect(await advanced(orphan)).to.not.equal('completed');
    heal();
    await settled();
    expect(await advanced(orphan)).to.equal('failed');
  });

  it('withdraws nothing on the word of the only node that answers, where that names a final block of another branch', async () => {
    const forked = await live.chain.mine();
    await live.chain.mine(10);
    const other = await frozenNode(live.chain, forked);
    await rollBack(11);
    const good = await pay(live.chain.accounts[0]);
    await live.chain.mine(9);
    await settled();
    const before = await cursorOf(live);
    live.proxy.fault = away;
    second().fault = other;
    await polls(4);
    const during = await cursorOf(live);
    for (const name of ['verified_number', 'anchored_number', 'anchored_hash'])
      expect(during[name], name).to.equal(before[name]);
    const { host } = new URL(second().url);
    expect((await stops())['roll-back']?.reason).to.match(
      new RegExp(
        `^${host} names 0x[0-9a-f]{64} as final at block \\d+ of bsc; .* holds 0x[0-9a-f]{64}, .*no answer`,
      ),
    );
    expect((await rowOf(good))['block_hash']).to.be.a('string');
    heal();
    await live.chain.mine(10);
    await settled();
    expect(await stops()).to.deep.equal({});
    expect(await advanced(good)).to.equal('completed');
  });

  it('completes no orphan: a whole branch that one of two alone has and calls final', async () => {
    const orphan = await pay(live.chain.accounts[3]);
    const from = await live.chain.mine();
    const tip = await live.chain.mine(17);
    // It hangs at its tip, and calls the tip itself final.
    live.proxy.fault = await frozenNode(live.chain, from, 0);
    await rollBack(tip - from + 1);
    const good = await pay(live.chain.accounts[0]);
    await live.chain.mine(tip - from);
    for (let looks = 0; looks < 6; looks++) {
      await polls(1);
      expect(await advanced(orphan), `after look ${looks}`).to.not.equal('completed');
    }
    expect(await advanced(orphan), 'it was read').to.not.equal('not seen');
    heal();
    await live.chain.mine(3);
    await settled();
    expect([await advanced(orphan), await advanced(good)]).to.deep.equal(['failed', 'completed']);
  });

  it('verifies nothing that the second endpoint does not call final yet', async () => {
    live.proxy.fault = finality(
      async () => await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false]),
    );
    const head = await live.chain.mine(12);
    await live.catchUp();
    expect(await cursorOf(live)).to.include({
      verified_number: String(head - 2),
      reread_number: String(head - 2),
    });
  });

  for (const which of ['first', 'other'] as const)
    it(`stops what is verified, and says why, where the ${which} one names a block that the chain does not have`, async () => {
      const before = await verifiedOf(live);
      const proxy = which === 'first' ? live.proxy : second();
      proxy.fault = finality((block) => ({ ...block, hash: `0x${'7'.repeat(64)}` }));
      const hash = await pay(live.chain.accounts[0]);
      await live.chain.mine(20);
      await poll().catch(() => undefined);
      const refused = await poll().catch((error: Error) => error.name);
      expect(refused).to.equal('FinalityContradiction');
      expect(await verifiedOf(live)).to.equal(before);
      const { reason = '', action = '' } = (await stops())['roll-back'] ?? {};
      expect(reason)
        .to.match(/^two endpoints of bsc contradict each other: .* names 0x.* as final at block \d+, /)
        .and.contain(new URL(proxy.url).host);
      expect(action).to.match(/take the endpoint that is on the wrong branch out/);
      expect(await advanced(hash), 'it is announced, and waits').to.not.be.oneOf(['completed', 'not seen']);
      heal();
      await settled();
      expect(await stops()).to.deep.equal({});
      expect(await advanced(hash)).to.equal('completed');
    });
});
