// When a watcher asks for the head and for what is final, on a clock of its own: without a chain.
import { expect } from 'chai';
import fc from 'fast-check';
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import type { FinalPace, HeadPace } from '../../../src/chains/pace.ts';
import { TRON_PACE } from '../../../src/chains/tron/pace.ts';
import {
  finalMayHaveMoved,
  type KnownFinal,
  learn,
  learnFinal,
  newPace,
  waitMs,
} from '../../../src/services/watcher/heads/pace.ts';

const EVERY_MS = 450;
const seed = 450;
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const timesOf = (min: number, max: number, length: number) =>
  fc.array(fc.integer({ min, max }), { minLength: length, maxLength: length });
const jitterOf = (share: number, length: number) =>
  fc.array(fc.double({ min: -share, max: share, noNaN: true }), { minLength: length, maxLength: length });

/**
 * Asks for the head as a watcher does until every block is found; `blocks` are the moments in which
 * they come. Returns how often is asked for a block, and how late it is found, once the pace is known.
 */
function measured(
  blocks: readonly number[],
  { warm = 20, limits = BSC_PACE.head }: { warm?: number; limits?: HeadPace } = {},
) {
  const [lateMs, askedMs]: [number[], number[]] = [[], []];
  let pace = newPace(limits);
  let [nowMs, height] = [0, 0];
  while (lateMs.length < blocks.length) {
    askedMs.push(nowMs);
    while ((blocks[height] ?? Number.POSITIVE_INFINITY) <= nowMs) height += 1;
    pace = learn(pace, { atMs: nowMs, number: height });
    nowMs += 5;
    while (lateMs.length < height) lateMs.push(nowMs - (blocks[lateMs.length] ?? 0));
    nowMs += waitMs(pace, nowMs);
  }
  const late = lateMs.slice(warm);
  return {
    questions: askedMs.filter((atMs) => atMs >= (blocks[warm] ?? 0)).length / (blocks.length - warm),
    latestMs: Math.max(...late),
    meanLateMs: mean(late),
  };
}

describe('when the head is asked for', () => {
  it('is about when the next block can be there, wherever blocks come at an interval', () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 4_000 }), jitterOf(0.05, 120), (everyMs, jitter) => {
        const { questions, meanLateMs, latestMs } = measured(
          jitter.map((share, index) => (index + 1 + share) * everyMs),
        );
        const gap = Math.max(75, everyMs / 6);
        expect(questions, `every ${everyMs} ms`).to.be.at.most(2);
        expect(meanLateMs, 'later than needed').to.be.at.most(gap + 10);
        expect(latestMs).to.be.at.most(2.5 * gap + 10);
      }),
      { numRuns: 60, seed },
    );
  });

  it('finds nearly every block with one question where questions are costly and blocks come by the clock', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 3_000 }), timesOf(0, 250, 400), (phaseMs, lateMs) => {
        const blocks = lateMs.map((late, index) => phaseMs + 3_000 * (index + 1) + late);
        const { questions, latestMs } = measured(blocks, { limits: TRON_PACE.head, warm: 40 });
        expect(questions).to.be.at.most(1.1);
        expect(latestMs).to.be.at.most(1_200);
      }),
      { numRuns: 30, seed },
    );
  });

  it('is never further away than some seconds, nor in the past, whatever heights are told', () => {
    const answers = fc.array(
      fc.record({ afterMs: fc.integer({ min: 0, max: 100_000 }), number: fc.integer({ min: 0, max: 50 }) }),
    );
    fc.assert(
      fc.property(answers, (list) => {
        let pace = newPace(BSC_PACE.head);
        let nowMs = 0;
        for (const { afterMs, number } of list) {
          nowMs += afterMs;
          pace = learn(pace, { atMs: nowMs, number });
          expect(waitMs(pace, nowMs)).to.be.within(0, 5_000);
        }
      }),
      { seed },
    );
  });
});

describe('when it is asked what is final', () => {
  const moved = (
    known: KnownFinal | undefined,
    at: { nowMs: number; headNumber: number; awaited?: readonly number[] },
    pace: FinalPace = BSC_PACE.final,
  ) => finalMayHaveMoved(pace, known, at);

  it('is every second block of a chain that moves, and soon on one that stands', () => {
    let known: KnownFinal | undefined;
    let asked = 0;
    for (let head = 100; head < 200; head++) {
      const nowMs = head * EVERY_MS;
      if (!moved(known, { nowMs, headNumber: head })) continue;
      asked += 1;
      known = learnFinal(known, { atMs: nowMs, number: head - 2, headNumber: head });
    }
    expect(asked).to.equal(50);
    const atMs = 200 * EVERY_MS;
    known = learnFinal(known, { atMs, number: 196, headNumber: 199 });
    expect([500, 1_000].map((ms) => moved(known, { nowMs: atMs + ms, headNumber: 199 }))).to.deep.equal([
      false,
      true,
    ]);
  });

  it('is at once when a block with something of ours must be, where the chain allows it', () => {
    const known = learnFinal(undefined, { atMs: 0, number: 97, headNumber: 99 });
    const asks = (awaited: readonly number[], pace?: FinalPace) =>
      moved(known, { nowMs: EVERY_MS, headNumber: 100, awaited }, pace);
    expect(asks([98]), 'it is two below the head').to.equal(true);
    expect(asks([99, 98])).to.equal(true);
    expect(asks([]), 'nothing of ours').to.equal(false);
    expect(asks([99]), 'too young').to.equal(false);
    expect(asks([97]), 'known to be final').to.equal(false);
    expect(asks([98], { outstandingMs: 1_000, quietMs: 3_000, blocks: 1 })).to.equal(false);
    expect(asks([98], TRON_PACE.final)).to.equal(false);
  });
});
