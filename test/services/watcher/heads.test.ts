// When a watcher asks for the head and for what is final, on a clock of its own: without a chain.
import { expect } from 'chai';
import fc from 'fast-check';
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import type { FinalPace } from '../../../src/chains/pace.ts';
import { TRON_PACE } from '../../../src/chains/tron/pace.ts';
import { createHeadClock } from '../../../src/services/watcher/heads/clock.ts';
import {
  finalMayHaveMoved,
  type KnownFinal,
  learn,
  learnFinal,
  newPace,
  waitMs,
} from '../../../src/services/watcher/heads/pace.ts';
import { type Announcement, watch } from './announcing.ts';

const EVERY_MS = 450;
const MINUTE_MS = 60_000;
const seed = 450;
const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;
const timesOf = (min: number, max: number, length: number) =>
  fc.array(fc.integer({ min, max }), { minLength: length, maxLength: length });
const jitterOf = (share: number, length: number) =>
  fc.array(fc.double({ min: -share, max: share, noNaN: true }), { minLength: length, maxLength: length });

/** How often is asked for a block, and how late it is found, once the pace is known. */
function measured(
  blocks: readonly number[],
  { warm = 20, ...options }: Parameters<typeof watch>[1] & { warm?: number } = {},
) {
  const { lateMs, askedMs } = watch(blocks, options);
  const late = lateMs.slice(warm);
  return {
    questions: askedMs.filter((atMs) => atMs >= (blocks[warm] ?? 0)).length / (blocks.length - warm),
    latestMs: Math.max(...late),
    meanLateMs: mean(late),
    medianLateMs: late.toSorted((a, b) => a - b)[Math.floor(late.length / 2)],
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

  it('is soon after the last one where they come at no interval', () => {
    fc.assert(
      fc.property(timesOf(120, 3_000, 90), (gaps) => {
        let atMs = 0;
        const blocks = gaps.map((gap) => (atMs += gap));
        // The longer a block is awaited, the wider the gaps; half of one is waited for on average.
        expect(measured(blocks).medianLateMs).to.be.at.most(250);
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

  it('finds the beat of such a chain within some blocks, wherever the first question fell', () => {
    const slow = fc.record({ at: fc.integer({ min: 20, max: 50 }), ms: fc.integer({ min: 0, max: 2_500 }) });
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 3_000 }),
        timesOf(0, 150, 60),
        slow,
        (phaseMs, late, { at, ms }) => {
          const blocks = late.map((one, index) => phaseMs + 3_000 * index + one);
          // One answer takes long, as one does now and then: that moves nothing for the blocks after it.
          const answerMs = (found: number): number => (found === at ? ms : 5);
          const { lateMs, askedMs } = watch(blocks, { limits: TRON_PACE.head, answerMs });
          expect(Math.max(...lateMs.slice(8, at - 1)), 'after the start').to.be.at.most(1_000);
          expect(Math.max(...lateMs.slice(at + 5)), 'after a slow answer').to.be.at.most(1_300);
          expect(askedMs.length - blocks.length, 'asked in vain').to.be.at.most(14);
        },
      ),
      { numRuns: 200, seed },
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

describe('when the head is asked for where blocks are announced', () => {
  const chains = jitterOf(0.1, 150).map((jitter) =>
    jitter.map((share, index) => (index + 1 + share) * EVERY_MS),
  );
  const announced = (blocks: readonly number[], delayMs: (index: number) => number): Announcement[] =>
    blocks.map((atMs, index) => ({ atMs: atMs + delayMs(index), number: index + 1 }));

  it('is when they are: about one question for a block, and sooner than by the pace', () => {
    const [questions, lateMs]: [number[], number[]] = [[], []];
    fc.assert(
      fc.property(chains, timesOf(0, 30, 150), (blocks, delayMs) => {
        const told = measured(blocks, { announcements: announced(blocks, (index) => delayMs[index] ?? 0) });
        questions.push(told.questions);
        lateMs.push(told.meanLateMs);
      }),
      { numRuns: 50, seed },
    );
    expect(Math.max(...questions)).to.be.at.most(2);
    expect(Math.max(...lateMs)).to.be.at.most(60);
    expect(mean(questions)).to.be.at.most(1.2);
    expect(mean(lateMs)).to.be.at.most(25);
  });

  it('is as without them where they come later than the pace finds a block, or leave some out', () => {
    fc.assert(
      fc.property(chains, fc.integer({ min: 120, max: 2_000 }), (blocks, delayMs) => {
        const alone = measured(blocks);
        const told = measured(blocks, { announcements: announced(blocks, () => delayMs) });
        expect(told.questions).to.be.at.most(alone.questions + 0.1);
        expect(told.meanLateMs).to.be.at.most(alone.meanLateMs + 15);
        const some = announced(blocks, () => 5).filter(({ number }) => number % 5 !== 0);
        expect(measured(blocks, { announcements: some }).meanLateMs).to.be.at.most(alone.meanLateMs + 30);
      }),
      { numRuns: 50, seed },
    );
  });

  it('is by the pace again when two blocks were not announced', () => {
    fc.assert(
      fc.property(chains, fc.integer({ min: 40, max: 100 }), (blocks, until) => {
        const { lateMs } = watch(blocks, { announcements: announced(blocks, () => 5).slice(0, until) });
        expect(lateMs[until], 'the first that is not announced').to.be.at.most(1.5 * EVERY_MS);
        expect(Math.max(...lateMs.slice(until + 3)), 'all after it').to.be.at.most(250);
      }),
      { numRuns: 50, seed },
    );
  });

  it('stays within two questions for a block, and finds each, whatever is announced', () => {
    const end = 150 * EVERY_MS;
    const anything = fc.array(
      fc.record({ atMs: fc.integer({ min: 0, max: end }), number: fc.integer({ min: 0, max: 300 }) }),
      { maxLength: 2_000 },
    );
    const flood = fc.integer({ min: -3, max: 1_000_000 }).map((ahead) => (blocks: readonly number[]) => {
      let height = 0;
      return Array.from({ length: end / 5 }, (_, index) => {
        const atMs = 5 * index;
        while ((blocks[height] ?? Number.POSITIVE_INFINITY) <= atMs) height += 1;
        return { atMs, number: height + ahead };
      });
    });
    // Right often enough to be believed, then wrong.
    const rarely = fc
      .integer({ min: 10, max: 440 })
      .map(
        (afterMs) => (blocks: readonly number[]) =>
          blocks.flatMap((atMs, index) => [
            { atMs: atMs + 5, number: index + 1 },
            ...(index % 9 === 8 ? [{ atMs: atMs + afterMs, number: index + 2 }] : []),
          ]),
      );
    const liar = fc.oneof(
      anything.map((list) => () => list),
      flood,
      rarely,
    );
    fc.assert(
      fc.property(chains, liar, (blocks, lie) => {
        const { questions, latestMs } = measured(blocks, { announcements: lie(blocks) });
        expect(questions).to.be.at.most(2);
        expect(latestMs).to.be.at.most(2 * EVERY_MS);
      }),
      { numRuns: 60, seed },
    );
  });

  it('is at once while somebody waits, and an aborted wait ends at once with the reason', async () => {
    let announce = (_number: number): void => undefined;
    const stop = new AbortController();
    const reader = {
      pace: BSC_PACE,
      hint: (listener: { announced(number: number): void }) => {
        announce = (number) => listener.announced(number);
      },
    };
    // A clock that stands: only an announcement ends a wait.
    const headClock = createHeadClock(reader, () => 0, stop.signal);
    headClock.answered({ atMs: 0, number: 7 });
    const waiting = headClock.wait();
    announce(8);
    await waiting;
    headClock.answered({ atMs: 0, number: 8 });
    const aborted = headClock.wait().catch((error: unknown) => error);
    stop.abort(new Error('enough'));
    expect(await aborted)
      .to.be.an('error')
      .with.property('message', 'enough');
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

  it('is about once for a head while finality stands still, also where several heads are shown by turns', () => {
    const FINAL = 98;
    const { closestMs } = BSC_PACE.head;
    const asksPerMinute = (everyMs: number, headAt: (look: number) => number): number => {
      let known = learnFinal(undefined, { atMs: 0, number: FINAL, headNumber: FINAL + 2 });
      let asks = 0;
      const awaited = Array.from({ length: 300 }, (_, above) => FINAL + 1 + above);
      for (let look = 1; look * everyMs <= MINUTE_MS; look += 1) {
        const [nowMs, headNumber] = [look * everyMs, headAt(look)];
        if (!moved(known, { nowMs, headNumber, awaited })) continue;
        asks += 1;
        known = learnFinal(known, { atMs: nowMs, number: FINAL, headNumber });
      }
      return asks;
    };
    const perHead = MINUTE_MS / EVERY_MS;
    expect(asksPerMinute(EVERY_MS, (look) => FINAL + 2 + look)).to.be.at.most(perHead);
    expect(
      asksPerMinute(BSC_PACE.wholeLookMs, () => FINAL + 3),
      'the head stands as well',
    ).to.be.at.most(60);
    expect(
      asksPerMinute(closestMs, (look) => FINAL + 1 + (look % 3)),
      'by turns',
    ).to.be.at.most(perHead);
    const moving = (look: number): number =>
      FINAL + 2 + Math.floor((look * closestMs) / EVERY_MS) - (look % 2);
    expect(asksPerMinute(closestMs, moving)).to.be.at.most(1.1 * perHead);
  });
});
