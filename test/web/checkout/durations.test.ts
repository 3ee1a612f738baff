import { expect } from 'chai';
import { countdown, usualMinutes } from '../../../src/web/checkout/durations.ts';

describe('the times that a payer is told', () => {
  it('count down by the server’s clock, and end at nothing', () => {
    const until = '2026-11-20T11:00:00Z';
    for (const [now, text] of [
      ['2026-11-20T10:18:01Z', '41:59'],
      ['2026-11-20T10:59:55Z', '0:05'],
      ['2026-11-20T07:53:00Z', '3:07:00'],
      ['2026-11-13T11:00:00Z', '168:00:00'],
      ['2026-11-20T11:00:01Z', '0:00'],
    ] as const)
      expect(countdown(until, now)).to.equal(text);
  });

  it('are rather too long than too short for what the chain takes', () => {
    expect([usualMinutes(15, 450), usualMinutes(19, 3_000), usualMinutes(1, 12_000)]).to.deep.equal([
      0, 2, 0,
    ]);
    for (const confirmations of [1, 15, 19, 100, 1_000])
      for (const blockMs of [450, 3_000, 12_000])
        expect(Math.max(1, usualMinutes(confirmations, blockMs)) * 60_000).to.be.at.least(
          Math.min(confirmations * blockMs, 60_000 * 1_000),
        );
  });
});
