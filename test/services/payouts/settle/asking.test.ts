import { expect } from 'chai';
import { Crowded, createAsks } from '../../../../src/services/payouts/settle/asking.ts';

describe('a crowd of payouts', () => {
  it('waits in line: each that finds no place is told when its turn is, by merchant, and gets it then', async () => {
    let nowMs = 0;
    const asks = createAsks(1, () => nowMs);
    const turn = (merchant: string) => asks(async () => merchant);
    const told = async (merchant: string): Promise<number> => {
      const error: unknown = await turn(merchant)
        .enter()
        .catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(Crowded);
      return (error as Crowded).delayMs;
    };
    const first = turn('A');
    await first.enter();
    // Whatever else the step asks, it has its place.
    await first.enter();
    const inLine = ['A', 'A', 'A', 'B'].map((merchant) => {
      const one = turn(merchant);
      return { merchant, one, begun: one.enter() };
    });
    // A step takes a second, as far as is known; two merchants share the place.
    expect([await told('A'), await told('A'), await told('B')]).to.deep.equal([1_000, 2_000, 2_000]);
    nowMs = 1_000;
    first.end();
    const order: string[] = [];
    for (const { merchant, one, begun } of inLine)
      void begun.then(() => {
        order.push(merchant);
        one.end();
      });
    await Promise.all(inLine.map(({ begun }) => begun));
    expect(order).to.deep.equal(['A', 'B', 'A', 'A']);
    const expected = turn('A');
    await expected.enter();
    expected.end();
  });
});
