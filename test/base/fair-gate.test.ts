import { expect } from 'chai';
import fc from 'fast-check';
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

  it('gives up a turn that does not come in time, and only that one', async () => {
    const gate = createFairGate({ places: 1 });
    const { order, work, endOne } = held();
    const first = gate.run('a', work('first'));
    const late = gate.run('a', work('late'), 5).catch((error: unknown) => error);
    const patient = gate.run('a', work('patient'));
    expect(await late).to.be.instanceOf(GateFull);
    await endOne();
    await endOne();
    expect(await Promise.all([first, patient])).to.deep.equal(['first', 'patient']);
    expect(order).to.deep.equal(['first', 'patient']);
  });

  it('leaves places free for others when one key has all that are its own, and gives them back to it in turn', async () => {
    const gate = createFairGate({ places: 4, placesOfKey: 2 });
    const { order, work, endOne } = held();
    const rush = Array.from({ length: 4 }, (_, index) => gate.run('rush', work(`rush ${index}`)));
    const others = ['a', 'b', 'c'].map((name) => gate.run(name, work(name)));
    expect(order).to.deep.equal(['rush 0', 'rush 1', 'a', 'b']);
    await endOne();
    expect(order.slice(4)).to.deep.equal(['rush 2']);
    for (let ended = 0; ended < 8; ended += 1) await endOne();
    expect(order.slice(5)).to.deep.equal(['c', 'rush 3']);
    expect(await Promise.all([...rush, ...others])).to.have.length(7);
  });

  it('leaves a place empty for as long as it is told, after the call was answered', async () => {
    const gate = createFairGate({ places: 1, restMs: (tookMs, waiting) => (waiting > 0 ? 5 * tookMs : 0) });
    const began = performance.now();
    const pause = () => new Promise((resolve) => setTimeout(resolve, 30));
    const first = gate.run('a', pause).then(() => performance.now() - began);
    const second = gate.run('a', async () => performance.now() - began);
    expect(await first).to.be.below(100);
    expect(await second).to.be.at.least(175);
    const alone = performance.now();
    await gate.run('a', pause);
    await gate.run('a', pause);
    expect(performance.now() - alone).to.be.below(150);
  });

  it('refuses more than may wait', async () => {
    const gate = createFairGate({ places: 1, maxWaiting: 1 });
    const { work, endOne } = held();
    const running = [gate.run('a', work('1')), gate.run('b', work('2'))];
    expect(await gate.run('c', work('3')).catch((error: unknown) => error)).to.be.instanceOf(GateFull);
    await endOne();
    await endOne();
    expect(await Promise.all(running)).to.deep.equal(['1', '2']);
  });

  it('never runs more than it has places, runs everything once, and goes on after what fails', async () => {
    const calls = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.boolean(), fc.nat(3)), {
      maxLength: 60,
    });
    const few = fc.integer({ min: 1, max: 5 });
    await fc.assert(
      fc.asyncProperty(calls, few, few, async (list, places, placesOfKey) => {
        const gate = createFairGate({
          places,
          placesOfKey,
          restMs: (_, waiting) => waiting % 2,
        });
        let running = 0;
        let most = 0;
        let ran = 0;
        const results = await Promise.allSettled(
          list.map(([key, fails, turns]) =>
            gate.run(key, async () => {
              running += 1;
              ran += 1;
              most = Math.max(most, running);
              for (let turn = 0; turn < turns; turn += 1)
                await new Promise((resolve) => setImmediate(resolve));
              running -= 1;
              if (fails) throw new Error('failed');
            }),
          ),
        );
        expect(most).to.be.at.most(places);
        expect([ran, running]).to.deep.equal([list.length, 0]);
        expect(results.map(({ status }) => status === 'rejected')).to.deep.equal(
          list.map(([, fails]) => fails),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('loses no place and counts who waits, whatever gave up, failed or rested before', async () => {
    const few = fc.integer({ min: 1, max: 4 });
    const call = fc.record({
      key: fc.constantFrom('a', 'b', 'c'),
      at: fc.nat(4),
      wait: fc.nat(5),
      takes: fc.nat(3),
      fails: fc.boolean(),
    });
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { maxLength: 40 }),
        few,
        few,
        fc.nat(2),
        async (calls, places, placesOfKey, rest) => {
          const gate = createFairGate({ places, placesOfKey, maxWaiting: 6, restMs: () => rest });
          const one = async ({ key, at, wait, takes, fails }: (typeof calls)[number]): Promise<void> => {
            await pause(at);
            const work = () =>
              pause(takes).then(() => (fails ? Promise.reject(new Error('failed')) : undefined));
            await gate.run(key, work, wait).catch(() => undefined);
          };
          await Promise.all(calls.map(one));
          await pause(rest + 3);
          const { order, work, endOne } = held();
          const running = Array.from({ length: places }, (_, index) => gate.run(`new ${index}`, work('')));
          expect(order).to.have.length(places);
          const line = Array.from({ length: 6 }, (_, index) => gate.run(`line ${index}`, async () => 'ran'));
          expect(await gate.run('one more', work('')).catch((error: unknown) => error)).to.be.instanceOf(
            GateFull,
          );
          for (let ended = 0; ended < places; ended += 1) await endOne();
          await Promise.all(running);
          expect(new Set(await Promise.all(line))).to.deep.equal(new Set(['ran']));
        },
      ),
      { numRuns: 60 },
    );
  });
});
