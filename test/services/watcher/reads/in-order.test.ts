import { expect } from 'chai';
import fc from 'fast-check';
import type { ScannedBlock } from '../../../../src/chains/reader.ts';
import { PARALLEL_READS, READ_AHEAD, readInOrder } from '../../../../src/services/watcher/reads/in-order.ts';

type Outcome = ScannedBlock | undefined | Error;

const block = (number: number): ScannedBlock => ({
  number,
  hash: `0x${number}`,
  parentHash: `0x${number - 1}`,
  timestampMs: 0,
  transfers: [],
  unrecognised: [],
  unrecognisedDropped: 0,
});

/** An endpoint whose answers come when the test says so, and what it was asked. */
function askedEndpoint() {
  const open = new Map<number, (outcome: Outcome) => void>();
  const begun: number[] = [];
  let most = 0;
  const read = (number: number) =>
    new Promise<ScannedBlock | undefined>((resolve, reject) => {
      begun.push(number);
      open.set(number, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)));
      most = Math.max(most, open.size);
    });
  const answer = async (number: number, outcome: Outcome): Promise<void> => {
    const settle = open.get(number);
    if (!settle) throw new Error(`block ${number} was not asked for`);
    open.delete(number);
    settle(outcome);
    await turn();
  };
  const answerAll = async (): Promise<void> => {
    while (open.size > 0) for (const number of open.keys()) await answer(number, block(number));
  };
  return { read, begun, open, answer, answerAll, most: () => most };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('reading blocks ahead', () => {
  it('goes on while whoever takes them is busy, and lets no more than a window lie', async () => {
    const endpoint = askedEndpoint();
    const blocks = readInOrder(1, 1_000, endpoint.read);
    await blocks.next();
    expect(endpoint.begun).to.have.length(PARALLEL_READS);
    await endpoint.answerAll();
    expect(endpoint.begun, 'the one that was taken, and the window').to.have.length(READ_AHEAD + 1);
    expect(endpoint.most()).to.equal(PARALLEL_READS);
    await blocks.next();
    expect(endpoint.begun).to.have.length(READ_AHEAD + 2);
  });

  it('begins nothing behind a block that could not be read or that nobody has, until that one is taken', async () => {
    for (const outcome of [new Error('no endpoint answers'), undefined]) {
      const endpoint = askedEndpoint();
      const blocks = readInOrder(1, 1_000, endpoint.read);
      await blocks.next();
      await endpoint.answer(3, outcome);
      const begun = endpoint.begun.length;
      await endpoint.answer(1, block(1));
      await endpoint.answer(2, block(2));
      await endpoint.answer(4, block(4));
      await blocks.next();
      expect(endpoint.begun).to.have.length(begun);
      const third = (await blocks.next()).value;
      expect(await third?.[1].catch((error: unknown) => error)).to.equal(outcome);
      await blocks.next();
      expect(endpoint.begun.length).to.be.greaterThan(begun);
    }
  });

  it('begins nothing more once it is enough or nobody takes any more', async () => {
    const endpoint = askedEndpoint();
    let enough = false;
    const blocks = readInOrder(1, 1_000, endpoint.read, () => enough);
    await blocks.next();
    enough = true;
    await endpoint.answerAll();
    expect(endpoint.begun).to.have.length(PARALLEL_READS);
    const other = askedEndpoint();
    for await (const [number] of readInOrder(1, 1_000, other.read)) if (number === 1) break;
    await other.answerAll();
    expect(other.begun).to.have.length(PARALLEL_READS);
    const one = readInOrder(5, 9, endpoint.read, () => true);
    expect([(await one.next()).value?.[0], (await one.next()).done], 'one at least').to.deep.equal([5, true]);
  });

  it('passes each block on exactly once and in order, whatever fails and whenever answers come', async () => {
    const scenario = fc.array(fc.record({ fails: fc.boolean(), order: fc.nat(1_000), busy: fc.nat(3) }), {
      minLength: 1,
      maxLength: 60,
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (plan) => {
        const endpoint = askedEndpoint();
        const seen: [number, boolean][] = [];
        let done = false;
        const taking = (async () => {
          for await (const [number, reading] of readInOrder(1, plan.length, endpoint.read)) {
            const found = await reading.catch(() => undefined);
            seen.push([number, found !== undefined]);
            for (let i = 0; i < (plan[number - 1]?.busy ?? 0); i += 1) await turn();
          }
          done = true;
        })();
        while (!done) {
          const [number] = [...endpoint.open.keys()].sort(
            (a, b) => (plan[a - 1]?.order ?? 0) - (plan[b - 1]?.order ?? 0),
          );
          if (number !== undefined)
            await endpoint.answer(number, plan[number - 1]?.fails ? new Error('no') : block(number));
          else await turn();
        }
        await taking;
        expect(seen).to.deep.equal(plan.map(({ fails }, index) => [index + 1, !fails]));
        expect(endpoint.begun).to.deep.equal(plan.map((_, index) => index + 1));
        expect(endpoint.most()).to.be.at.most(PARALLEL_READS);
      }),
      { numRuns: 100, seed: 3 },
    );
  });
});
