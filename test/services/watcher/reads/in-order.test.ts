import { expect } from 'chai';
import fc from 'fast-check';
import type { ScannedBlock } from '../../../../src/chains/reader.ts';
import { PARALLEL_READS, readInOrder } from '../../../../src/services/watcher/reads/in-order.ts';

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
  return { read, begun, open, answer, most: () => most };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('reading blocks ahead', () => {
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
