// Which addresses a pass over the balances of Tron compares first.
import { expect } from 'chai';
import type { AddressKey } from '../../../src/chains/address-key.ts';
import { type PassStep, reconcileStep } from '../../../src/services/reconciliation/pass.ts';
import { heal } from '../watcher/tron/scenes.ts';
import { startTronWatcher, type TronWatcher } from '../watcher/tron/tron-watcher.ts';

const { signal } = new AbortController();
const BATCH = 2;
const PACE = { everyMs: 0, batchAddresses: BATCH, lookAgainMs: 50 };
const ADDRESSES = 7;

describe('a pass over the balances of Tron', () => {
  let live: TronWatcher;
  let addresses: readonly AddressKey[];
  before(async () => {
    live = await startTronWatcher();
    const made: AddressKey[] = [];
    for (let count = 0; count < ADDRESSES; count += 1) made.push(await live.newAddress());
    addresses = made.sort();
  });
  beforeEach(async () => {
    heal(live);
    await live.finish();
    await wholePass();
  });
  after(() => live?.stop());

  const step = (): Promise<PassStep> => reconcileStep(live.deps, live.watchedChain, PACE, signal);
  /** Whose balances a step asked for, in the order of the first request. */
  const askedIn = async (work: () => Promise<unknown>): Promise<string[]> => {
    const before = live.endpoint.requests.length;
    await work();
    const asked = live.endpoint.requests
      .slice(before)
      .filter(({ path }) => path === 'walletsolidity/getaccount')
      .map(({ body }) => String(body['address']).slice(2));
    return [...new Set(asked)];
  };
  const wholePass = async (): Promise<number> => {
    for (let steps = 1; steps < 50; steps += 1) if ((await step()).did === 'finished') return steps;
    throw new Error('the pass never ends');
  };
  const at = (index: number): AddressKey => addresses[index] as AddressKey;
  const pass = async () => (await live.rows('select * from balance_rounds'))[0];

  it('begins with those that were paid since the last one, and asks each address once', async () => {
    await live.node.pay({ to: at(5), currency: 'TRX', units: 10_000_000n });
    await live.node.mine();
    await live.node.pay({ to: at(6), currency: 'TRX', units: 10_000_000n });
    await live.finish();
    expect(await askedIn(step)).to.have.members([at(6), at(5)]);
    expect((await pass())?.['ahead_keys']).to.deep.equal([at(6), at(5)]);
    const others = await askedIn(wholePass);
    expect(others).to.deep.equal(addresses.slice(0, 5));
    expect(Number((await pass())?.['checked'])).to.equal(ADDRESSES);
  });

  it('does not count one that is paid at every look as compared, and begins with it the next time', async () => {
    let ends = false;
    live.endpoint.fault = async ({ path, body }) => {
      if (ends || path !== 'walletsolidity/getaccount' || !String(body['address']).endsWith(at(3)))
        return undefined;
      await live.node.pay({ to: at(3), currency: 'TRX', units: 10_000_000n });
      await live.finish();
      return undefined;
    };
    await wholePass();
    expect((await pass())?.['left_out']).to.deep.equal([at(3)]);
    expect(Number((await pass())?.['checked'])).to.equal(ADDRESSES - 1);
    ends = true;
    heal(live);
    expect((await askedIn(step))[0]).to.equal(at(3));
    await wholePass();
    expect((await pass())?.['left_out']).to.deep.equal([]);
  });
});
