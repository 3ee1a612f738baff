import { expect } from 'chai';
import fc from 'fast-check';
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import {
  finalMayHaveMoved,
  type KnownFinal,
  learn,
  learnFinal,
  newPace,
  waitMs,
} from '../../../src/services/watcher/heads/pace.ts';

/**
 * Asks as a watcher does, with a clock of our own; returns
 * when each block was found, and how often was asked.
 */
function asking(blocks: readonly number[], answerMs = 5): { foundMs: number[]; questions: number } {
  let pace = newPace(BSC_PACE.head);
  let nowMs = 0;
  let questions = 0;
  const foundMs: number[] = [];
  while (foundMs.length < blocks.length) {
    const number = blocks.filter((atMs) => atMs <= nowMs).length;
    questions += 1;
    pace = learn(pace, { atMs: nowMs, number });
    nowMs += answerMs;
    while (foundMs.length < number) foundMs.push(nowMs);
    nowMs += Math.max(1, waitMs(pace, nowMs));
  }
  return { foundMs, questions };
}

describe('when the head is asked for', () => {
  it('is about when the next block can be there, wherever blocks come at an interval', () => {
    const chain = fc.record({
      everyMs: fc.integer({ min: 200, max: 4_000 }),
      jitter: fc.array(fc.double({ min: -0.05, max: 0.05, noNaN: true }), { minLength: 120, maxLength: 120 }),
    });
    fc.assert(
      fc.property(chain, ({ everyMs, jitter }) => {
        const blocks = jitter.map((share, index) => (index + 1) * everyMs + share * everyMs);
        const { foundMs, questions } = asking(blocks);
        const warm = asking(blocks.slice(0, 20));
        expect((questions - warm.questions) / (blocks.length - 20), `every ${everyMs} ms`).to.be.at.most(2);
        const gap = Math.max(75, everyMs / 6);
        const late = foundMs.map((atMs, index) => atMs - (blocks[index] ?? 0)).slice(20);
        expect(late.reduce((sum, one) => sum + one, 0) / late.length, 'later than needed').to.be.at.most(
          gap + 10,
        );
        expect(Math.max(...late)).to.be.at.most(2.5 * gap + 10);
      }),
      { numRuns: 100 },
    );
  });

  it('is soon after the last one where they come at no interval', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 120, max: 3_000 }), { minLength: 40, maxLength: 80 }),
        (gaps) => {
          let atMs = 0;
          const blocks = gaps.map((gap) => {
            atMs += gap;
            return atMs;
          });
          const { foundMs } = asking(blocks);
          const late = foundMs.map((found, index) => found - (blocks[index] ?? 0)).slice(20);
          const sorted = late.toSorted((a, b) => a - b);
          // The longer a block is awaited, the wider the gaps; half of one is waited for on average.
          expect(sorted[Math.floor(sorted.length * 0.5)]).to.be.at.most(200);
        },
      ),
      { numRuns: 100 },
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
    );
  });

  it('asks what is final every second block of a chain that moves, and soon on one that stands', () => {
    let known: KnownFinal | undefined;
    let asked = 0;
    for (let head = 100; head < 200; head++) {
      const nowMs = head * 450;
      if (!finalMayHaveMoved(BSC_PACE.final, known, { nowMs, headNumber: head })) continue;
      asked += 1;
      known = learnFinal(known, { atMs: nowMs, number: head - 2, headNumber: head });
    }
    expect(asked).to.equal(50);
    const last = { atMs: 200 * 450, number: 196, headNumber: 199 };
    known = learnFinal(known, last);
    expect(finalMayHaveMoved(BSC_PACE.final, known, { nowMs: last.atMs + 500, headNumber: 199 })).to.equal(
      false,
    );
    expect(finalMayHaveMoved(BSC_PACE.final, known, { nowMs: last.atMs + 1_000, headNumber: 199 })).to.equal(
      true,
    );
  });
});
