import { expect } from 'chai';
import { testContracts } from '../../../dev/support/chain-contracts.ts';
import { eventually } from '../../../dev/support/eventually.ts';
import type { Fault } from '../../../dev/support/fault-proxy.ts';
import { advanceDeposit } from '../../../src/services/deposits/advance.ts';
import { pollChain } from '../../../src/services/watcher/poll.ts';
import { loadWatched } from '../../../src/services/watcher/watched-addresses.ts';
import { frozenNode } from './branches.ts';
import { finality } from './lies.ts';
import { NO_TRACES, type Row, startTestWatcher, type TestWatcher, without } from './test-watcher.ts';

const { signal } = new AbortController();
/**
 * For so long nothing is verified while another endpoint
 * is asked; a little less than the product's own number.
 */
const PATIENCE_MS = 4_500;
const away: Fault = () => ({ status: 503, body: '' });
/**
 * With two endpoints that answer, the word of one about what
 * is final is not enough; with one that answers it has to be.
 */
describe('what a single endpoint names as final', function () {
  this.timeout(120_000);
  let live: TestWatcher;

  beforeEach(async () => {
    live = await startTestWatcher({ others: 1 });
    await live.chain.usdt.call('transfer', [live.chain.accounts[3], 1_000n]);
    await live.newAddress();
    await live.finish();
    await settled();
  });
  afterEach(() => live?.stop());
  const second = () => live.others[0] ?? live.proxy;
  const cursor = async (): Promise<Row> => (await live.rows('select * from chain_cursors'))[0] ?? {};
  const verified = async (): Promise<number> => Number((await cursor())['verified_number']);
  const look = () => pollChain(live.deps, live.watchedChain, signal);
  async function settled(): Promise<void> {
    await eventually(
      'the chain is followed to its end',
      async () => {
        const done = await look().catch(() => undefined);
        return done?.cursor.verifiedNumber === (await live.chain.mine(0)) - 2;
      },
      60_000,
    );
  }
  async function advanced(hash: string): Promise<string> {
    const [row] = await live.rows('select id from deposits where transaction_hash = ?', [hash]);
    if (!row) return 'not seen';
    for (;;) {
      const result = await advanceDeposit(live.deps, { depositId: String(row['id']), alarmed: false });
      if (result.kind === 'wait') return 'waits';
      if (result.state === 'completed' || result.state === 'failed') return result.state;
    }
  }
  const pay = async (from: string | undefined) =>
    await live.chain.usdt.call('transfer', [await live.newAddress(), 500n], { from: from ?? '' });

  it('completes no orphan: a whole branch that one of them alone has and calls final', async () => {
    const orphan = await pay(live.chain.accounts[3]);
    const from = await live.chain.mine();
    const tip = await live.chain.mine(17);
    // It hangs at its tip, and calls the tip itself final.
    live.proxy.fault = await frozenNode(live.chain, from, 0);
    await live.chain.anvil.rpc('anvil_rollback', [tip - from + 1]);
    const good = await pay(live.chain.accounts[0]);
    await live.chain.mine(tip - from);
    for (let looks = 0; looks < 8; looks++) {
      await look().catch(() => undefined);
      expect(await advanced(orphan), `after look ${looks}`).to.not.equal('completed');
    }
    expect(await advanced(orphan), 'it was read').to.not.equal('not seen');
    live.proxy.fault = undefined;
    await live.chain.mine(3);
    await settled();
    expect([await advanced(orphan), await advanced(good)]).to.deep.equal(['failed', 'completed']);
  });

  it('verifies nothing that the other does not call final yet', async () => {
    live.proxy.fault = finality(
      async () => await live.chain.anvil.rpc('eth_getBlockByNumber', ['latest', false]),
    );
    const head = await live.chain.mine(12);
    await live.catchUp();
    expect(await verified()).to.equal(head - 2);
    expect(Number((await cursor())['reread_number']), 'nor is it read for good').to.equal(head - 2);
  });

  for (const which of ['first', 'other'] as const)
    it(`stops what is verified, and says why, where the ${which} one names a block that the chain does not have`, async () => {
      const before = await verified();
      const proxy = which === 'first' ? live.proxy : second();
      proxy.fault = finality((block) => ({ ...block, hash: `0x${'7'.repeat(64)}` }));
      const hash = await pay(live.chain.accounts[0]);
      await live.chain.mine(20);
      await look();
      const refused = await look().then(
        () => undefined,
        (error: Error) => error,
      );
      expect(refused?.name).to.equal('FinalityContradiction');
      expect(await verified()).to.equal(before);
      const stops = (await cursor())['stops'] as Record<string, { reason: string; action: string }>;
      expect(stops['roll-back']?.reason).to.match(
        /^two endpoints of bsc contradict each other: .* names 0x.* as final at block \d+, /,
      );
      expect(stops['roll-back']?.reason).to.contain(new URL(proxy.url).host);
      expect(stops['roll-back']?.action).to.match(/take the endpoint that is on the wrong branch out/);
      expect(await advanced(hash), 'it is announced, and waits').to.equal('waits');
      proxy.fault = undefined;
      await settled();
      expect((await cursor())['stops']).to.deep.equal({});
      expect(await advanced(hash)).to.equal('completed');
    });

  for (const [name, fault] of [
    ['does not answer', () => away],
    ['hangs', (): Fault => () => 'hang'],
    ['does not tell what is final', () => finality(() => null)],
    ['hangs far behind', async () => await frozenNode(live.chain, await live.chain.mine(0))],
    ['names a height far above the chain', () => finality((block) => ({ ...block, number: '0x3b9aca00' }))],
  ] as readonly [string, () => Fault | Promise<Fault>][])
    it(`is enough where the other one ${name}`, async () => {
      second().fault = await fault();
      const hash = await pay(live.chain.accounts[0]);
      const head = await live.chain.mine(30);
      for (let blocks = 0; blocks < 3; blocks++) {
        await live.chain.mine();
        const began = performance.now();
        await live.reader.finalized(signal);
        expect(performance.now() - began, 'nobody is waited for').to.be.below(4_000);
        await look();
      }
      await eventually('it is verified', async () => {
        await look();
        return (await verified()) > head - 2;
      });
      expect(await advanced(hash)).to.equal('completed');
      second().fault = undefined;
    });

  it('verifies nothing while the other one is slow to tell, and all of it once that has told', async () => {
    const gate = Promise.withResolvers<void>();
    second().fault = finality(async (block) => {
      await gate.promise;
      return block;
    });
    const before = await verified();
    const hash = await pay(live.chain.accounts[0]);
    await live.chain.mine(30);
    const began = performance.now();
    for (let looks = 0; looks < 3; looks++) {
      await look();
      const [now, deposit] = [await verified(), await advanced(hash)];
      // A busy machine may need longer for a look than one waits
      // for the other endpoint, and is right to go on then.
      if (performance.now() - began < PATIENCE_MS) expect([now, deposit]).to.deep.equal([before, 'waits']);
    }
    gate.resolve();
    await settled();
    expect(await advanced(hash)).to.equal('completed');
  });

  it('is forgotten with the next answer, where it was absurdly high: blocks at the head do not wait for traces elsewhere', async () => {
    const payer = await live.chain.deploy(testContracts().Payer);
    await live.chain.send({ to: payer.address, valueUnits: 100n });
    await live.chain.mine();
    const address = await live.newAddress();
    await loadWatched(live.deps, live.watchedChain.watched);
    const reader = live.newReader();
    const absurd = finality((block) => ({ ...block, number: '0x3b9aca00' }));
    live.proxy.fault = async (call, forward) =>
      (await absurd(call, forward)) ?? without(...NO_TRACES)(call, forward);
    expect((await reader.finalized(signal)).number).to.equal(1_000_000_000);
    live.proxy.fault = without(...NO_TRACES);
    const { number } = await reader.finalized(signal);
    await payer.call('payCoin', [address, 5n]);
    const head = await live.chain.mine();
    expect(number).to.be.below(head);
    second().calls.length = 0;
    expect((await reader.scan(head, live.watchedChain.watched.index, signal))?.untraced).to.not.equal(
      undefined,
    );
    expect(second().calls.filter(({ method }) => method.startsWith('trace'))).to.deep.equal([]);
  });

  it('costs no more than a question for several blocks at the second endpoint', async () => {
    const reader = live.newReader();
    await reader.finalized(signal);
    second().calls.length = 0;
    const asked = 12;
    for (let times = 0; times < asked; times++) {
      await live.chain.mine(2);
      const { number, second: other } = await reader.finalized(signal);
      expect(other?.number ?? 0, 'every answer has its witness').to.be.within(number, number + 4);
    }
    expect(second().calls.filter(({ params }) => params[0] === 'finalized').length / asked).to.be.at.most(
      0.5,
    );
  });
});
