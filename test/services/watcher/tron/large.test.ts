// Answers so large that what stands in front of a node, or we ourselves, may not let them through.
import { expect } from 'chai';
import { eventually } from '../../../../dev/support/eventually.ts';
import { ANSWERS, limitedTo, padded } from '../../../../dev/tron/faults.ts';
import type { TronAnswer, TronFault } from '../../../../dev/tron/http/endpoint.ts';
import { readiness } from '../../../../src/app/health.ts';
import type { AddressKey } from '../../../../src/chains/address-key.ts';
import { cursorOf } from '../asked.ts';
import { heal, paid, secondOf, states, watching } from './scenes.ts';
import { startTronWatcher, type TronWatcher } from './tron-watcher.ts';

/** What is let through here. */
const LIMIT = 1_048_576;
const PAYMENTS = 10;

/** What is said instead of an answer that is too large, and what operators read of it. */
const TOO_LARGE: Readonly<Record<string, readonly [instead: TronAnswer | undefined, reason: RegExp]>> = {
  'http 413': [ANSWERS.tooLarge, /http 413 .*more was asked for than it takes at once/],
  'more than we take ourselves': [undefined, /answer larger than 1 MiB/],
};

describe('a full block of Tron', function () {
  this.timeout(120_000);
  let live: TronWatcher;
  let laterMs = 0;
  before(async () => {
    live = await startTronWatcher({
      others: 1,
      maxResponseBytes: LIMIT,
      timeoutMs: 20_000,
      now: () => new Date(Date.now() + laterMs),
    });
    await live.catchUp();
  });
  afterEach(async () => {
    heal(live);
    laterMs = 0;
    live.later(11 * 60_000);
    live.restart();
    await live.catchUp();
  });
  after(() => live?.stop());

  const both = (fault: TronFault): void => {
    live.endpoint.fault = fault;
    secondOf(live).fault = fault;
  };
  /** Many payments in one block, each to another customer, and one in the block after. */
  async function fullBlock(): Promise<{ addresses: AddressKey[]; number: number }> {
    const addresses: AddressKey[] = [];
    for (let made = 0; made < PAYMENTS; made += 1) {
      const address = await live.newAddress();
      await live.node.pay({ to: address, currency: made % 2 === 0 ? 'USDT' : 'TRX', units: 80n });
      addresses.push(address);
    }
    const number = await live.node.mine();
    addresses.push((await paid(live, { currency: 'USDT', units: 80n })).address);
    return { addresses, number };
  }
  const all = async (addresses: readonly AddressKey[]): Promise<string[]> =>
    (await Promise.all(addresses.map((address) => live.deposits(address)))).flatMap(states);
  const expectAll = async (addresses: readonly AddressKey[]): Promise<void> => {
    await live.node.mine(5);
    // Where a large answer takes its time, what is final waits for the word of the second endpoint.
    await eventually('the second read', async () => {
      await live.tryToCatchUp(1);
      return (await all(addresses)).every((state) => state.endsWith('verified'));
    });
    expect(await all(addresses)).to.deep.equal(
      addresses.map((_, at) => `80 ${at % 2 === 0 ? 'USDT' : 'TRX'} verified`),
    );
  };

  for (const [name, [instead, reason]] of Object.entries(TOO_LARGE))
    it(`is never skipped where no endpoint gives it, is told by its height, and is read once one does: ${name}`, async () => {
      const large = padded({ infos: LIMIT });
      both(instead === undefined ? large : limitedTo(LIMIT, instead, large));
      const { addresses, number } = await fullBlock();
      expect((await live.tryToCatchUp(3)).join()).to.match(reason);
      expect(await cursorOf(live), 'it stands below the block').to.include({
        scanned_number: String(number - 1),
      });
      expect(await all(addresses)).to.deep.equal([]);
      laterMs = 40_000;
      await live.tryToCatchUp(1);
      const told = (await readiness(watching(live), new Date(0))).reasons.join();
      expect(told).to.match(new RegExp(`the first read of tron stands at ${number - 1} .*`));
      expect(told).to.match(reason);
      heal(live);
      await live.tryToCatchUp(1);
      await expectAll(addresses);
    });
});
