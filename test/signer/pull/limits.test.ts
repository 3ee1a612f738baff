import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { movesMoney } from '../../../src/domain/payouts/purpose.ts';
import type { SignedLine } from '../../../src/signer/journal-lines.ts';
import { MovedOfLate } from '../../../src/signer/moved.ts';
import { type Moved, requireRoom, type SignLimits } from '../../../src/signer/pull/limits.ts';

const NOW = new Date('2026-11-24T12:00:00.000Z');
const MINUTE_MS = 60_000;
const NONE = (): undefined => undefined;

/** What was signed so many minutes ago. */
type Signed = { readonly ago?: number; readonly amount?: bigint } & Partial<SignedLine>;
const lines = (signed: readonly Signed[]): readonly SignedLine[] =>
  signed.map(
    ({ ago = 1, ...line }) =>
      ({
        at: new Date(NOW.getTime() - ago * MINUTE_MS).toISOString(),
        network: 'bsc',
        currency: 'USDT',
        purpose: 'payout',
        payout_id: randomUUID(),
        merchant_id: 'this',
        attempt: 1,
        nonce: null,
        amount: 600n,
        ...line,
      }) as unknown as SignedLine,
  );
/** As the journal reads them. */
const movedBy = (all: readonly SignedLine[]): MovedOfLate =>
  new MovedOfLate((after, since) => ({
    upTo: all.length,
    lines: all
      .slice(after)
      .filter(({ purpose, at }) => movesMoney(purpose) && new Date(at).getTime() >= since.getTime()),
  }));
const ASKED: Moved = {
  network: 'bsc',
  currency: 'USDT',
  payoutId: 'this' as Moved['payoutId'],
  purpose: 'payout',
  attempt: 1,
  amountUnits: 600n,
};
/** Nothing, where there is room. */
function refusal(
  signed: readonly Signed[],
  limits: Partial<SignLimits>,
  asked: Partial<Moved> = {},
  nonce = 9,
) {
  const moved = movedBy(lines(signed));
  try {
    requireRoom({ perHour: NONE, perDay: NONE, ...limits }, { moved }, { ...ASKED, ...asked }, nonce, NOW);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
}
const PER_HOUR = { perHour: () => 1_000n };
const PER_DAY = { perDay: () => 1_500n };

describe('the limits of the signer', () => {
  it('keep what is above that of an hour or a day asked, and let it go when there is room', () => {
    expect(refusal([], PER_HOUR)).to.equal('');
    expect(refusal([{ ago: 59 }], PER_HOUR)).to.match(
      /^with it 1200 units of USDT .* within 1 h, and SIGN_MAX_PER_HOUR allows 1000/,
    );
    expect(refusal([{ ago: 61 }], PER_HOUR)).to.equal('');
    expect(refusal([{ ago: 61 }, { ago: 1_439 }], PER_DAY)).to.match(/^with it 1800 .* within 24 h.*PER_DAY/);
    expect(refusal([{ ago: 61 }, { ago: 1_441 }], PER_DAY)).to.equal('');
    expect(refusal([], PER_HOUR, { amountUnits: 1_001n })).to.match(
      /^1001 .* more than .*_HOUR allows at all/,
    );
  });

  it('count coins for gas with payouts of the coin, and no stake that is lent', () => {
    expect(refusal([{ purpose: 'gas' }], PER_HOUR)).to.match(/^with it 1200/);
    expect(refusal([{ purpose: 'delegate' }, { purpose: 'reclaim' }], PER_HOUR)).to.equal('');
  });

  it('count each chain and each asset by itself', () => {
    expect(refusal([{ network: 'tron' }, { currency: 'BNB' }], PER_HOUR)).to.equal('');
    expect(refusal([], { perHour: ({ currency }) => (currency === 'BNB' ? 1n : undefined) })).to.equal('');
  });

  it('count all attempts in one place once, with the largest, because one of them lands at most', () => {
    const place = { payout_id: 'this', nonce: 9 };
    expect(refusal([place, { ...place, attempt: 2, amount: 500n }], PER_HOUR, { attempt: 3 })).to.equal('');
    expect(refusal([{ ...place, nonce: 8 }], PER_HOUR, { attempt: 2 })).to.match(/^with it 1200/);
    expect(refusal([place, { amount: 300n }], PER_HOUR, { attempt: 2, amountUnits: 701n })).to.match(
      / 1001 /,
    );
  });

  it('count what a clock that was ahead has signed from when it is seen, and all again that one had forgotten', () => {
    const year = 365 * 24 * 60;
    const moved = movedBy(lines([{ ago: -year }, { ago: 30 }]));
    const sumAt = (minutes: number): number => {
      const now = new Date(NOW.getTime() + minutes * MINUTE_MS);
      const within = [...moved.of(ASKED, now).values()].filter(
        ({ at }) => at > now.getTime() - 60 * MINUTE_MS,
      );
      return within.length;
    };
    expect([0, 59, 61].map(sumAt), 'the right clock').to.deep.equal([2, 1, 0]);
    expect([year, 0].map(sumAt), 'ahead again, and back').to.deep.equal([0, 2]);
  });
});
