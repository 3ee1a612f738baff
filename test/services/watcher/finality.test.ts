import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { balancer, frozenNode, noBodies } from './branches.ts';
import { type Row, startTestWatcher, type TestWatcher } from './test-watcher.ts';

/** How long a node that hangs stays behind: more than the confirmations that a deposit needs. */
const BLOCKS_MISSED = 20;
const { signal } = new AbortController();
const away: Fault = () => ({ status: 503, body: '' });

type Branches = {
  /**
   * A transfer that only the branch of the hanging node has, and
   * one that only the chain has, in a block of the same height.
   */
  readonly orphan: string;
  readonly good: string;
  readonly height: number;
  /** The node that hangs at the block of this height that was replaced. */
  readonly hanging: Fault;
};

/**
 * What is final is known by its hash: whichever node answers which
 * question, no orphan is completed and no good deposit withdrawn.
 */
describe('finality that is a hash', function () {
  this.timeout(120_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher({ others: 1 });
    await live.chain.usdt.call('transfer', [live.chain.accounts[3], 1_000n]);
    await live.newAddress();
    await live.finish();
  });
  after(() => live?.stop());
  const second = () => live.others[0] ?? live.proxy;
  afterEach(async () => {
    live.proxy.fault = undefined;
    second().fault = undefined;
    await settled();
  });

  const cursor = async (): Promise<Row> => (await live.rows('select * from chain_cursors'))[0] ?? {};
  const rowOf = async (hash: string): Promise<Row> =>
    (await live.rows('select * from deposits where transaction_hash = ?', [hash]))[0] ?? {};
  /**
   * Looks as the watcher does: one that fails is followed
   * by another, and an endpoint that rests is asked again.
   */
  async function looks(count = 6, pauseMs = 0): Promise<void> {
    for (let look = 0; look < count; look++) {
      await pollChain(live.deps, live.watchedChain, signal).catch(() => undefined);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
  /** All endpoints are asked again, whatever rest they were given, and the chain is followed to its end. */
  async function settled(): Promise<void> {
    for (let tries = 0; tries < 60; tries++) {
      const done = await pollChain(live.deps, live.watchedChain, signal).catch(() => undefined);
      if (done?.cursor.verifiedNumber === (await live.chain.mine(0)) - 2) return;
      await sleep(250);
    }
    throw new Error('the chain is never followed to its end');
  }
  /** Every step that the chain permits. */
  async function advanced(hash: string): Promise<string> {
    const { id } = await rowOf(hash);
    for (let steps = 0; steps < 5; steps++) {
      const result = await advanceDeposit(live.deps, { depositId: String(id), alarmed: false });
      if (result.kind === 'wait') return result.reason;
      if (result.state === 'completed' || result.state === 'failed') return result.state;
    }
    throw new Error('never at an end');
  }
  const pay = async (from: string | undefined) =>
    await live.chain.usdt.call('transfer', [await live.newAddress(), 500n], { from: from ?? '' });

  /** A fork of one block; the cursor stands right below it. */
  async function fork(): Promise<Branches> {
    await settled();
    const orphan = await pay(live.chain.accounts[3]);
    const height = await live.chain.mine();
    const hanging = await frozenNode(live.chain, height);
    await live.chain.reorg(1);
    // A block of another content in its place.
    await live.chain.anvil.rpc('anvil_rollback', [1]);
    const good = await pay(live.chain.accounts[0]);
    expect(await live.chain.mine()).to.equal(height);
    return { orphan, good, height, hanging };
  }

  for (const again of [false, true]) {
    it(`does not complete an orphan that a hanging node shows while a better one refuses whole blocks${again ? ', across a restart' : ''}`, async () => {
      const { orphan, height, hanging } = await fork();
      await live.chain.mine(BLOCKS_MISSED);
      live.proxy.fault = noBodies;
      second().fault = hanging;
      for (let look = 0; look < 8 || (look < 100 && !(await rowOf(orphan))['id']); look++) {
        if (again && look === 4) live.restart();
        await looks(1, 400);
        if ((await rowOf(orphan))['id'])
          expect(await advanced(orphan), `after look ${look}`).to.not.equal('completed');
      }
      expect(await rowOf(orphan), 'it was seen').to.include({ block_number: String(height) });
      expect(Number((await cursor())['verified_number'])).to.be.below(height);
      live.proxy.fault = undefined;
      await settled();
      expect(await advanced(orphan)).to.equal('failed');
      expect(await rowOf(orphan)).to.include({ failure_code: 'REORGED', block_hash: null });
    });
  }

  it('does not withdraw a good deposit on the word of a node that hangs on a replaced block', async () => {
    const { good, height, hanging } = await fork();
    await live.chain.mine(BLOCKS_MISSED);
    await settled();
    const before = await rowOf(good);
    expect(before['verified_at']).to.not.equal(null);
    second().fault = hanging;
    live.proxy.fault = away;
    await looks(4, 200);
    live.proxy.fault = noBodies;
    await live.chain.mine(1);
    await looks(4, 400);
    expect(await rowOf(good)).to.include({ block_hash: before['block_hash'], block_number: String(height) });
    expect(Number((await cursor())['verified_number'])).to.be.at.least(height + BLOCKS_MISSED - 2);
    expect(await advanced(good)).to.equal('completed');
  });

  /** For each call in turn, whether the node that hangs answers it. */
  const inTurn = (pattern: readonly boolean[]) => {
    let calls = 0;
    return (): boolean => {
      calls += 1;
      return pattern[calls % pattern.length] ?? false;
    };
  };
  for (const [name, pattern] of [
    ['in turn', [true, false]],
    ['two by two', [true, true, false, false]],
    ['whole blocks from the one that hangs', [false]],
  ] as const) {
    it(`completes and withdraws nothing wrong behind a balancer that asks two nodes ${name}`, async () => {
      const { orphan, good, height, hanging } = await fork();
      const turn = inTurn(pattern);
      const mixed: Fault = (call, forward) =>
        name.startsWith('whole') && (call.params[1] === true || call.method === 'eth_getBlockReceipts')
          ? hanging(call, forward)
          : balancer(hanging, turn)(call, forward);
      live.proxy.fault = mixed;
      second().fault = mixed;
      for (let blocks = 0; blocks < BLOCKS_MISSED; blocks++) {
        await live.chain.mine(1);
        await looks(2);
        if ((await rowOf(orphan))['id'])
          expect(await advanced(orphan), `${blocks} blocks later`).to.not.equal('completed');
        if ((await rowOf(good))['id'])
          expect(await advanced(good), `${blocks} blocks later`).to.not.equal('failed');
      }
      live.proxy.fault = undefined;
      second().fault = undefined;
      await settled();
      expect(await advanced(good)).to.equal('completed');
      expect((await rowOf(orphan))['status'] ?? 'failed').to.not.equal('completed');
      if ((await rowOf(orphan))['id']) expect(await advanced(orphan)).to.equal('failed');
      expect(await rowOf(good)).to.include({ block_number: String(height), generation: 1 });
    });
  }

  it('does not complete what a backlog read on a branch that was replaced', async () => {
    await settled();
    const scanned = Number((await cursor())['scanned_number']);
    const orphan = await pay(live.chain.accounts[0]);
    const top = await live.chain.mine(150);
    // What it calls final lies below the fork: it knows of no finality on its branch.
    const hanging = await frozenNode(live.chain, scanned + 1, top - scanned + 3);
    await live.chain.anvil.rpc('anvil_rollback', [top - scanned]);
    await live.chain.usdt.call('transfer', [live.chain.accounts[5], 1n]);
    await live.chain.mine(300);
    live.proxy.fault = noBodies;
    second().fault = hanging;
    await eventually('the orphan is read', async () => {
      await looks(1, 300);
      return (await rowOf(orphan))['block_hash'] != null;
    });
    await looks(3, 300);
    expect((await cursor())['verified_number'], 'nothing of it is verified').to.equal(String(scanned - 2));
    expect(await advanced(orphan)).to.not.equal('completed');
    live.proxy.fault = undefined;
    second().fault = undefined;
    await settled();
    expect(await advanced(orphan)).to.equal('failed');
  });

  it('verifies and withdraws nothing where endpoints name different blocks as final, says so, and goes on', async () => {
    await settled();
    const forked = await live.chain.mine();
    await live.chain.mine(10);
    const other = await frozenNode(live.chain, forked);
    await live.chain.anvil.rpc('anvil_rollback', [11]);
    const good = await pay(live.chain.accounts[0]);
    await live.chain.mine(9);
    await settled();
    const before = await cursor();
    live.proxy.fault = away;
    second().fault = other;
    await looks(4, 300);
    const during = await cursor();
    for (const name of ['verified_number', 'anchored_number', 'anchored_hash'])
      expect(during[name], name).to.equal(before[name]);
    const { host } = new URL(second().url);
    expect((during['stops'] as Record<string, { reason: string }>)['roll-back']?.reason).to.match(
      new RegExp(
        `^${host} names 0x[0-9a-f]{64} as final at block \\d+ of bsc; .* holds 0x[0-9a-f]{64}, .*no answer`,
      ),
    );
    expect((await rowOf(good))['block_hash']).to.be.a('string');
    live.proxy.fault = undefined;
    second().fault = undefined;
    await live.chain.mine(10);
    await settled();
    expect((await cursor())['stops']).to.deep.equal({});
    expect(await advanced(good)).to.equal('completed');
  });
});
