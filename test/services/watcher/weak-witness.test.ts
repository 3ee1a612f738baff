import { expect } from 'chai';
import { TEST_CHAIN_ID } from '../../../dev/support/chain.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { createBscReader } from '../../../src/chains/bsc/reader.ts';
import { createRpcPool } from '../../../src/chains/rpc/json-rpc.ts';
import { standstills } from '../../../src/services/alarms/standstill.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { finality } from './lies.ts';
import { startTestWatcher, type TestWatcher } from './test-watcher.ts';

const { signal } = new AbortController();
/**
 * A second endpoint that is slow, stands still or invents may
 * cost little, and is named where it stops what is verified.
 */
describe('a weak witness of what is final', function () {
  this.timeout(120_000);
  let live: TestWatcher;
  let said: string[];
  beforeEach(async () => {
    live = await startTestWatcher({ others: 2 });
    await live.newAddress();
    await live.finish();
    said = [];
  });
  afterEach(() => live?.stop());
  const reading = (endpoints: number) => {
    const urls = [live.proxy, ...live.others].slice(0, endpoints).map(({ url }) => url);
    const rpc = createRpcPool({ name: 'bsc', urls, chainId: TEST_CHAIN_ID, timeoutMs: 3_000 });
    const reader = createBscReader({
      rpc,
      usdtContract: live.chain.usdt.address,
      report: (text) => said.push(text),
    });
    return { ...live.watchedChain, reader };
  };
  const stalled = async (): Promise<Fault> => {
    const block = await live.chain.anvil.rpc('eth_getBlockByNumber', ['0x2', false]);
    return finality(() => block);
  };
  const follow = async (chain: ReturnType<typeof reading>, looks = 8): Promise<number> => {
    for (let times = 0; times < looks; times++)
      await pollChain(live.deps, chain, signal).catch(() => undefined);
    return Number((await live.rows('select verified_number from chain_cursors'))[0]?.['verified_number']);
  };
  const later = (ms: number) => standstills({ ...live.deps, now: () => new Date(Date.now() + ms) });

  it('holds up no look while it is asked again: the answer before counts meanwhile', async () => {
    const { reader } = reading(2);
    const gate = Promise.withResolvers<void>();
    let held = Promise.resolve();
    const slow = finality(async (block) => {
      await held;
      return block;
    });
    if (live.others[0]) live.others[0].fault = slow;
    const { number: before } = await reader.finalized(signal);
    held = gate.promise;
    await live.chain.mine(5);
    const { number, second } = await reader.finalized(signal);
    gate.resolve();
    expect([number, second?.number]).to.deep.equal([before, before + 5]);
  });

  it('does not stop what two others call final', async () => {
    if (live.others[0]) live.others[0].fault = await stalled();
    const head = await live.chain.mine(20);
    expect(await follow(reading(3))).to.equal(head - 2);
  });

  it('is named with what it says, where it stands still and there is no other', async () => {
    if (live.others[0]) live.others[0].fault = await stalled();
    const head = await live.chain.mine(130);
    expect(await follow(reading(2), 12)).to.be.below(head - 100);
    expect(said.join('\n'))
      .to.contain(new URL(live.others[0]?.url ?? '').host)
      .and.to.match(/block 2\b/);
    const found = (await later(200_000)).find(({ part }) => part === 'finality');
    expect(found?.reason)
      .to.match(/endpoints/)
      .and.to.not.match(/no endpoint names/);
  });

  it('is what a standstill speaks of, where it invents a block that is always just above the chain', async () => {
    const dream = finality((block) => ({
      ...block,
      number: `0x${(Number(block['number']) + 15).toString(16)}`,
      hash: `0x${'7'.repeat(64)}`,
    }));
    if (live.others[0]) live.others[0].fault = dream;
    const chain = reading(2);
    const before = await follow(chain, 1);
    for (let blocks = 0; blocks < 10; blocks++) {
      await live.chain.mine(4);
      await follow(chain, 1);
    }
    expect(await follow(chain)).to.be.below(before + 10);
    expect(said.join('\n')).to.contain(new URL(live.others[0]?.url ?? '').host);
    await live.rows(`update chain_cursors set verified_moved_at = now() - interval '1 minute'`);
    const found = (await later(0)).find(({ part }) => part === 'second read');
    expect(found?.reason, found?.action).to.match(/does not run through what .* as final/);
  });
});
