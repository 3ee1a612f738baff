import { expect } from 'chai';
import fc from 'fast-check';
import { eventually } from '../../dev/support/eventually.ts';
import { createFairGate, GateFull } from '../../src/base/async/fair-gate.ts';

/** Work that ends when it is told to. */
function held() {
  const ends: (() => void)[] = [];
  const order: string[] = [];
  const work = (name: string) => (): Promise<string> => {
    order.push(name);
    return new Promise((resolve) => ends.push(() => resolve(name)));
  };
  const endOne = async (): Promise<void> => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { order, work, endOne };
}

describe('the fair gate', () => {
  it('lets one merchant pass the rush of another', async () => {
    const gate = createFairGate({ places: 2 });
    const { order, work, endOne } = held();
    const rush = Array.from({ length: 50 }, (_, index) => gate.run('rush', work(`rush ${index}`)));
    const quiet = gate.run('quiet', work('quiet'));
    for (let ended = 0; ended < 3; ended += 1) await endOne();
    expect(order.indexOf('quiet')).to.be.at.most(3);
    for (let ended = 0; ended < 60; ended += 1) await endOne();
    expect(await quiet).to.equal('quiet');
    expect(await Promise.all(rush)).to.deep.equal(Array.from({ length: 50 }, (_, index) => `rush ${index}`));
  });

  it('runs no more than it has places, all of it once, and loses none, whatever gave up, failed or rested', async () => {
    const few = fc.integer({ min: 1, max: 4 });
    const call = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      at: fc.nat(4),
      wait: fc.nat(5),
      takes: fc.nat(3),
      fails: fc.boolean(),
    });
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const calls = fc.array(call, { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(calls, few, few, fc.nat(2), async (list, places, placesOfKey, rest) => {
        const gate = createFairGate({ places, placesOfKey, maxWaiting: 6, restMs: () => rest });
        const count = { running: 0, most: 0, ran: 0, mostOfKey: 0 };
        const ofKey = new Map<string, number>();
        const add = (key: string, change: number): number => {
          count.running += change;
          ofKey.set(key, (ofKey.get(key) ?? 0) + change);
          return ofKey.get(key) ?? 0;
        };
        const outcomes = await Promise.all(
          list.map(async ({ key, at, wait, takes, fails }) => {
            await pause(at);
            const work = async (): Promise<string> => {
              count.mostOfKey = Math.max(count.mostOfKey, add(key, 1));
              count.ran += 1;
              count.most = Math.max(count.most, count.running);
              await pause(takes);
              add(key, -1);
              if (fails) throw new Error('failed');
              return 'done';
            };
            const told = await gate.run(key, work, wait).catch((error: Error) => error.name);
            return told === 'GateFull' || told === (fails ? 'Error' : 'done') ? told : `wrong: ${told}`;
          }),
        );
        expect(outcomes.filter((told) => told.startsWith('wrong'))).to.deep.equal([]);
        expect(count).to.include({ running: 0, ran: outcomes.filter((told) => told !== 'GateFull').length });
        expect(count.most).to.be.at.most(places);
        expect(count.mostOfKey).to.be.at.most(placesOfKey);
        const { order, work, endOne } = held();
        const running = Array.from({ length: places }, (_, index) => gate.run(`new ${index}`, work('')));
        await eventually('every place', () => order.length === places);
        const line = Array.from({ length: 6 }, (_, index) => gate.run(`line ${index}`, async () => 'ran'));
        const oneMore = gate.run('one more', work('')).catch((error: unknown) => error);
        expect(await oneMore).to.be.instanceOf(GateFull);
        for (let ended = 0; ended < places; ended += 1) await endOne();
        await Promise.all(running);
        expect(new Set(await Promise.all(line))).to.deep.equal(new Set(['ran']));
      }),
      { numRuns: 60, seed: 7 },
    );
  });
});
