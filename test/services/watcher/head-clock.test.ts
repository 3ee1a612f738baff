import { expect } from 'chai';
import fc from 'fast-check';
import { BSC_PACE } from '../../../src/chains/bsc/pace.ts';
import { createHeadClock } from '../../../src/services/watcher/heads/clock.ts';
import { type Announcement, watch } from './announcing.ts';

const EVERY_MS = 450;
const WARM = 20;
/**
 * A chain at an interval, and how often the head is asked
 * for a block, and how late it is found, once that is known.
 */
const chains = fc
  .array(fc.double({ min: -0.1, max: 0.1, noNaN: true }), { minLength: 150, maxLength: 150 })
  .map((jitter) => jitter.map((share, index) => (index + 1 + share) * EVERY_MS));

function measured(blocks: readonly number[], announcements: readonly Announcement[]) {
  const { foundMs, askedMs } = watch(blocks, announcements);
  const late = foundMs.map((atMs, index) => atMs - (blocks[index] ?? 0)).slice(WARM);
  return {
    questions: askedMs.filter((atMs) => atMs >= (blocks[WARM] ?? 0)).length / (blocks.length - WARM),
    latestMs: Math.max(...late),
    meanLateMs: mean(late),
  };
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

describe('when the head is asked for where blocks are announced', function () {
  this.timeout(60_000);

  it('is when they are: about one question for a block, and sooner than by the pace', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 150, maxLength: 150 });
    const [questions, lateMs]: [number[], number[]] = [[], []];
    fc.assert(
      fc.property(chains, delays, (blocks, delayMs) => {
        const told = measured(
          blocks,
          blocks.map((atMs, index) => ({ atMs: atMs + (delayMs[index] ?? 0), number: index + 1 })),
        );
        questions.push(told.questions);
        lateMs.push(told.meanLateMs);
        expect(told.questions).to.be.at.most(2);
        expect(told.meanLateMs).to.be.at.most(60);
      }),
      { numRuns: 50 },
    );
    // One chain may be unlucky in each of its blocks; fifty of them are not.
    expect(mean(questions)).to.be.at.most(1.2);
    expect(mean(lateMs)).to.be.at.most(25);
  });

  it('is as without them where they come later than the pace finds a block', () => {
    fc.assert(
      fc.property(chains, fc.integer({ min: 120, max: 2_000 }), (blocks, delayMs) => {
        const alone = measured(blocks, []);
        const told = measured(
          blocks,
          blocks.map((atMs, index) => ({ atMs: atMs + delayMs, number: index + 1 })),
        );
        expect(told.questions).to.be.at.most(alone.questions + 0.1);
        expect(told.meanLateMs).to.be.at.most(alone.meanLateMs + 15);
      }),
      { numRuns: 50 },
    );
  });

  it('is by the pace again when two blocks were not announced', () => {
    fc.assert(
      fc.property(chains, fc.integer({ min: 40, max: 100 }), (blocks, until) => {
        const honest = blocks.slice(0, until).map((atMs, index) => ({ atMs: atMs + 5, number: index + 1 }));
        const { foundMs } = watch(blocks, honest);
        const late = foundMs.map((atMs, index) => atMs - (blocks[index] ?? 0));
        expect(late[until], 'the first that is not announced').to.be.at.most(1.5 * EVERY_MS);
        expect(Math.max(...late.slice(until + 3)), 'all after it').to.be.at.most(250);
      }),
      { numRuns: 50 },
    );
  });

  it('is by the pace where one of five blocks is not announced', () => {
    fc.assert(
      fc.property(chains, (blocks) => {
        const announcements = blocks.map((atMs, index) => ({ atMs: atMs + 5, number: index + 1 }));
        const told = measured(
          blocks,
          announcements.filter(({ number }) => number % 5 !== 0),
        );
        expect(told.meanLateMs).to.be.at.most(measured(blocks, []).meanLateMs + 30);
      }),
      { numRuns: 50 },
    );
  });

  it('stays within two questions for a block, and finds each, whatever is announced', () => {
    const end = 150 * EVERY_MS;
    const anything = fc.array(
      fc.record({ atMs: fc.integer({ min: 0, max: end }), number: fc.integer({ min: 0, max: 300 }) }),
      {
        maxLength: 2_000,
      },
    );
    const flood = fc.integer({ min: -3, max: 1_000_000 }).map((ahead) => (blocks: readonly number[]) => {
      let height = 0;
      return Array.from({ length: end / 5 }, (_, index) => {
        const atMs = 5 * index;
        while ((blocks[height] ?? Number.POSITIVE_INFINITY) <= atMs) height += 1;
        return { atMs, number: height + ahead };
      });
    });
    const liar = fc.oneof(
      anything.map((list) => () => list),
      flood,
      fc.integer({ min: 10, max: 440 }).map(
        (afterMs) => (blocks: readonly number[]) =>
          // Right often enough to be believed, then wrong.
          blocks.flatMap((atMs, index) => [
            { atMs: atMs + 5, number: index + 1 },
            ...(index % 9 === 8 ? [{ atMs: atMs + afterMs, number: index + 2 }] : []),
          ]),
      ),
    );
    fc.assert(
      fc.property(chains, liar, (blocks, announced) => {
        const { questions, latestMs } = measured(blocks, announced(blocks));
        expect(questions).to.be.at.most(2);
        expect(latestMs).to.be.at.most(2 * EVERY_MS);
      }),
      { numRuns: 60 },
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
