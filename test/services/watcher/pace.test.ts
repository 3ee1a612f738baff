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

/**
 * Asks as a watcher does, with a clock of our own; returns
 * when each block was found, and how often was asked.
 */
function asking(
  blocks: readonly number[],
  {
    limits = BSC_PACE.head,
    answerMs = () => 5,
  }: { limits?: HeadPace; answerMs?: (found: number) => number } = {},
): { foundMs: number[]; questions: number } {
  let pace = newPace(limits);
  let nowMs = 0;
  let questions = 0;
  const foundMs: number[] = [];
  while (foundMs.length < blocks.length) {
    const number = blocks.filter((atMs) => atMs <= nowMs).length;
    questions += 1;
    pace = learn(pace, { atMs: nowMs, number });
    nowMs += answerMs(foundMs.length);
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
        fc.array(fc.integer({ min: 120, max: 3_000 }), { minLength: 60, maxLength: 120 }),
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
          expect(sorted[Math.floor(sorted.length * 0.5)]).to.be.at.most(250);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('finds nearly every block with one question where questions are costly and blocks come by the clock', () => {
    const chain = fc.record({
      lateMs: fc.array(fc.integer({ min: 0, max: 250 }), { minLength: 400, maxLength: 400 }),
      phaseMs: fc.integer({ min: 0, max: 3_000 }),
    });
    fc.assert(
      fc.property(chain, ({ lateMs, phaseMs }) => {
        const blocks = lateMs.map((late, index) => phaseMs + 3_000 * (index + 1) + late);
        const { foundMs, questions } = asking(blocks, { limits: TRON_PACE.head });
        const warm = asking(blocks.slice(0, 40), { limits: TRON_PACE.head });
        expect((questions - warm.questions) / (blocks.length - 40)).to.be.at.most(1.1);
        const late = foundMs.map((atMs, index) => atMs - (blocks[index] ?? 0)).slice(40);
        expect(Math.max(...late)).to.be.at.most(1_200);
      }),
      { numRuns: 50 },
    );
  });

  it('finds the beat of such a chain within some blocks, wherever the first question fell', () => {
    const chain = fc.record({
      phaseMs: fc.integer({ min: 0, max: 3_000 }),
      lateMs: fc.array(fc.integer({ min: 0, max: 150 }), { minLength: 60, maxLength: 60 }),
      slowAt: fc.integer({ min: 20, max: 50 }),
      slowMs: fc.integer({ min: 0, max: 2_500 }),
    });
    fc.assert(
      fc.property(chain, ({ phaseMs, lateMs, slowAt, slowMs }) => {
        const blocks = lateMs.map((late, index) => phaseMs + 3_000 * index + late);
        // One answer takes long, as one does now and then: that moves nothing for the blocks after it.
        const answerMs = (found: number): number => (found === slowAt ? slowMs : 5);
        const { foundMs, questions } = asking(blocks, { limits: TRON_PACE.head, answerMs });
        const late = foundMs.map((atMs, index) => atMs - (blocks[index] ?? 0));
        const latest = (from: number, to: number) => Math.max(...late.slice(from, to));
        expect(latest(8, slowAt - 1), 'after the start').to.be.at.most(1_000);
        expect(latest(slowAt + 5, 60), 'after a slow answer').to.be.at.most(1_300);
        expect(questions - blocks.length, 'asked in vain').to.be.at.most(14);
      }),
      { numRuns: 300 },
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

  it('asks what is final at once when a block with something of ours must be, where the chain allows it', () => {
    const known = learnFinal(undefined, { atMs: 0, number: 97, headNumber: 99 });
    const asks = (headNumber: number, awaited: readonly number[], pace: FinalPace = BSC_PACE.final) =>
      finalMayHaveMoved(pace, known, { nowMs: 450, headNumber, awaited });
    expect(asks(100, [98]), 'it is two below the head').to.equal(true);
    expect(asks(100, [99, 98])).to.equal(true);
    expect(asks(100, []), 'nothing of ours').to.equal(false);
    expect(asks(100, [99]), 'too young').to.equal(false);
    expect(asks(100, [97]), 'known to be final').to.equal(false);
    expect(asks(100, [98], { outstandingMs: 1_000, quietMs: 3_000, blocks: 1 })).to.equal(false);
    expect(asks(100, [98], TRON_PACE.final)).to.equal(false);
  });
});
