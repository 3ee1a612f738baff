import { expect } from 'chai';
import type { ChainStop } from '../../src/domain/chain-stop.ts';
import { noteOf, wrongClock } from '../../src/domain/chain-stop.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 10, 28);
const at = (ms: number): Date => new Date(START + ms);

/** What is noted after these blocks: when each was seen, and by how much our clock was ahead of it. */
function noted(seen: readonly (readonly [ms: number, aheadMs: number])[]): ChainStop | undefined {
  return seen.reduce<ChainStop | undefined>(
    (before, [ms, aheadMs], number) => noteOf(before, { number, aheadMs, at: at(ms) }),
    undefined,
  );
}
/** A block a minute, the last one after `minutes`, each off by the same time. */
const steady = (minutes: number, aheadMs: number) =>
  noted(Array.from({ length: minutes + 1 }, (_, minute) => [minute * MINUTE_MS, aheadMs] as const));

describe('the time of the newest blocks', () => {
  const told = (bsc: ChainStop | undefined, tron: ChainStop | undefined, minutes: number, movedMinutes = 0) =>
    wrongClock(
      [
        { network: 'bsc', stops: bsc ? { 'block time': bsc } : {}, movedAt: at(minutes * MINUTE_MS) },
        { network: 'tron', stops: tron ? { 'block time': tron } : {}, movedAt: at(minutes * MINUTE_MS) },
      ],
      at((minutes + movedMinutes) * MINUTE_MS),
    ).map(({ network }) => network);

  for (const ahead of [10 * MINUTE_MS, -10 * MINUTE_MS])
    it(`shows a clock ${ahead > 0 ? 'ahead' : 'behind'} at once by two chains, by one after five minutes`, () => {
      expect(told(steady(1, ahead), steady(1, ahead + 9_000), 1)).to.deep.equal(['bsc', 'tron']);
      expect(told(steady(4, ahead), undefined, 4)).to.deep.equal([]);
      expect(told(steady(5, ahead), undefined, 5)).to.deep.equal(['bsc']);
      const side = ahead > 0 ? 'behind' : 'ahead of';
      expect(steady(1, ahead)?.reason).to.include(`a time 600 s ${side} the worker's clock`);
    });

  it('shows nothing of our clock where the head got old slowly, catches up, or does not move', () => {
    const ageing = noted(Array.from({ length: 30 }, (_, n) => [n * MINUTE_MS, n * 40_000] as const));
    expect(told(ageing, undefined, 29)).to.deep.equal([]);
    const behind = noted([
      [0, 20 * MINUTE_MS],
      [2_000, 15 * MINUTE_MS],
      [4_000, 9 * MINUTE_MS],
    ]);
    expect(told(behind, behind, 1)).to.deep.equal([]);
    expect(told(steady(5, 10 * MINUTE_MS), steady(5, 10 * MINUTE_MS), 5, 6)).to.deep.equal([]);
  });

  it('shows nothing within a minute, and forgets what was noted', () => {
    expect(steady(9, MINUTE_MS)).to.equal(undefined);
    expect(
      noted([
        [0, 10 * MINUTE_MS],
        [1_000, 10 * MINUTE_MS],
        [2_000, 3_000],
      ]),
    ).to.equal(undefined);
  });
});
