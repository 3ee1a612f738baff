import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { JournalIndex, SignedLine } from '../../../src/signer/journal-lines.ts';
import { type Moved, requireRoom, type SignLimits } from '../../../src/signer/pull/limits.ts';

const NOW = new Date('2026-11-24T12:00:00.000Z');
const MINUTE_MS = 60_000;
const NONE = (): undefined => undefined;

/** What was signed so many minutes ago. */
type Signed = { readonly ago?: number; readonly amount?: bigint } & Partial<SignedLine>;
const lines = (signed: readonly Signed[]): Pick<JournalIndex, 'signed'> => ({
  signed: signed.map(
    ({ ago = 1, ...line }) =>
      ({
        at: new Date(NOW.getTime() - ago * MINUTE_MS).toISOString(),
        network: 'bsc',
        currency: 'USDT',
        purpose: 'payout',
        payout_id: randomUUID(),
        attempt: 1,
        nonce: null,
        amount: 600n,
        ...line,
      }) as unknown as SignedLine,
  ),
});
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
  const index = lines(signed) as JournalIndex;
  try {
    requireRoom({ perHour: NONE, perDay: NONE, ...limits }, index, { ...ASKED, ...asked }, nonce, NOW);
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
});
