import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { rescan } from '../../../src/services/watcher/rescan.ts';
import { type Lie, lying } from './lies.ts';
import { startTestWatcher, type TestWatcher } from './test-watcher.ts';

const { signal } = new AbortController();
const away: Fault = () => ({ status: 503, body: '' });

/**
 * A repeated read is a chance to find what was missed. What two reads
 * have shown it takes back only where two endpoints do not have it.
 */
describe('a repeated read that does not show a deposit which was verified', function () {
  this.timeout(60_000);
  let live: TestWatcher;

  before(async () => {
    live = await startTestWatcher({ others: 1 });
    await live.finish();
  });
  after(() => live?.stop());
  const second = () => live.others[0] ?? live.proxy;
  afterEach(() => {
    live.proxy.fault = undefined;
    second().fault = undefined;
    live.restart();
  });

  const rowOf = async (address: string) => (await live.deposits(address))[0] ?? {};
  const again = async (number: number) =>
    await rescan(live.deps, live.watchedChain, {
      from: number,
      to: number,
      signal,
      progress: () => undefined,
    });
  const kept = () =>
    live.api.lines.filter((line) => line.text.startsWith('a repeated read does not show a deposit')).length;

  const WAYS: readonly { name: string; pay: (address: string) => Promise<string>; lie: Lie }[] = [
    {
      name: 'USDT',
      pay: (address) => live.chain.usdt.call('transfer', [address, 40n]),
      lie: { logs: () => [] },
    },
    {
      name: 'BNB',
      pay: (address) => live.chain.send({ to: address, valueUnits: 40n }),
      lie: { value: () => 0n },
    },
  ];
  for (const { name, pay, lie } of WAYS) {
    async function verified(): Promise<{ address: string; number: number; row: Record<string, unknown> }> {
      const address = await live.newAddress();
      await pay(address);
      const number = await live.chain.mine();
      await live.finish();
      const row = await rowOf(address);
      expect(row['verified_at']).to.not.equal(null);
      return { address, number, row };
    }

    it(`withdraws nothing on the word of one of two (${name}), and says so`, async () => {
      const { address, number, row } = await verified();
      const before = kept();
      live.proxy.fault = lying(address, lie);
      await again(number);
      expect(await rowOf(address)).to.deep.include({
        block_hash: row['block_hash'],
        verified_at: row['verified_at'],
      });
      expect(kept()).to.equal(before + 1);
    });

    it(`withdraws nothing on the word of the only one that answers (${name})`, async () => {
      const { address, number, row } = await verified();
      second().fault = away;
      live.proxy.fault = lying(address, lie);
      await again(number);
      expect(await rowOf(address)).to.deep.include({
        block_hash: row['block_hash'],
        verified_at: row['verified_at'],
      });
    });

    it(`withdraws it where neither of two shows it (${name})`, async () => {
      const { address, number } = await verified();
      live.proxy.fault = lying(address, lie);
      second().fault = lying(address, lie);
      // One that did not answer a moment ago rests, and is asked again by itself.
      await eventually('both are asked', async () => {
        await again(number);
        return (await rowOf(address))['block_hash'] === null;
      });
      expect(await rowOf(address)).to.include({ block_hash: null, verified_at: null });
    });
  }

  it('does not touch one that is completed', async () => {
    const address = await live.newAddress();
    await live.chain.usdt.call('transfer', [address, 40n]);
    const number = await live.chain.mine();
    await live.chain.mine(20);
    await live.catchUp();
    const { id } = await rowOf(address);
    for (let steps = 0; steps < 2; steps++)
      await advanceDeposit(live.deps, { depositId: String(id), alarmed: false });
    const before = await rowOf(address);
    expect(before['status']).to.equal('completed');
    live.proxy.fault = lying(address, { logs: () => [] });
    await again(number);
    expect(await rowOf(address)).to.deep.equal(before);
  });
});
