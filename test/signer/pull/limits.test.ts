import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { movesMoney } from '../../../src/domain/payouts/purpose.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import type { SignedLine } from '../../../src/signer/journal-lines.ts';
import { MovedOfLate, type Moving } from '../../../src/signer/moved.ts';
import { requireRoom, type SignLimits } from '../../../src/signer/pull/limits.ts';
import type { NotSigned } from '../../../src/signer/pull/refusal.ts';
import { DESTINATIONS } from './asking.ts';
import { type SignerStage, startSignerStage } from './stage.ts';

const NOW = new Date('2026-11-24T12:00:00.000Z');
const MINUTE_MS = 60_000;
const NONE = (): undefined => undefined;

/** What was signed so many minutes ago. */
type Signed = { readonly ago?: number; readonly amount?: bigint } & Partial<SignedLine>;
const lines = (signed: readonly Signed[]): readonly SignedLine[] =>
  signed.map(
    ({ ago = 1, ...line }, before) =>
      ({
        n: before + 1,
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
  new MovedOfLate((after, since) =>
    all.slice(after).filter(({ purpose, at }) => movesMoney(purpose) && new Date(at) >= since),
  );
const ASKED: Moving = {
  network: 'bsc',
  currency: 'USDT',
  payout_id: 'this',
  purpose: 'payout',
  attempt: 1,
  amount: 600n,
  merchant_id: 'this',
  nonce: 9,
};
const ALL = (): bigint => 10n ** 9n;
const NO_SHARES: SignLimits = {
  perHour: NONE,
  perDay: NONE,
  perHourOfMerchant: ALL,
  perDayOfMerchant: ALL,
};
/** Nothing, where there is room. */
function refused(
  signed: readonly Signed[],
  limits: SignLimits,
  asked: Partial<Moving> = {},
): Partial<NotSigned> {
  try {
    requireRoom({ limits, index: { moved: movedBy(lines(signed)) }, now: NOW }, { ...ASKED, ...asked });
  } catch (error) {
    return error as NotSigned;
  }
  return {};
}
const refusal = (signed: readonly Signed[], limits: Partial<SignLimits>, asked: Partial<Moving> = {}) =>
  refused(signed, { ...NO_SHARES, ...limits }, asked).message ?? '';
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
    expect(refusal([], PER_HOUR, { amount: 1_001n })).to.match(/^1001 .* more than .*_HOUR allows at all/);
  });

  it("leave others what one merchant has not used: a third is one merchant's, unless another share is set", () => {
    const limits = { perHour: NONE, perDay: () => 3_000n };
    const of = (merchant_id: string, amount: bigint) => ({ merchant_id, amount, ago: 70 });
    expect(refused([of('this', 400n), of('other', 1_000n)], limits)).to.deep.equal({});
    expect(refused([of('this', 401n)], limits)).to.deep.include({ code: 'limit', room: undefined });
    expect(refused([of('this', 401n)], limits).message).to.match(
      /^with it 1001 units of USDT would be signed away for this merchant within 24 h, and SIGN_MAX_PER_DAY_MERCHANT allows one merchant 1000/,
    );
    expect(refused([of('this', 1_401n)], { ...limits, perDayOfMerchant: () => 2_000n }).message).to.match(
      /^with it 2001 .*one merchant 2000/,
    );
    const others = [1, 2, 3].map((n) => of(`other ${n}`, 801n));
    expect(refused(others, limits).message).to.match(
      /^with it 3003 .* away within 24 h, and SIGN_MAX_PER_DAY allows 3000/,
    );
    expect(refused([], { perHour: NONE, perDay: NONE, perHourOfMerchant: () => 500n }).message).to.match(
      /^600 units of USDT are more than SIGN_MAX_PER_HOUR_MERCHANT allows one merchant at all \(500\).*raise SIGN/,
    );
  });

  it('say of what is more than they ever allow how much would go now', () => {
    const limits = { perHour: () => 1_500n, perDay: () => 3_000n };
    const room = (signed: readonly Signed[], amount: bigint) => refused(signed, limits, { amount }).room;
    expect(room([], 501n)).to.equal(500n);
    expect(room([{ amount: 100n }, { amount: 900n, merchant_id: 'other' }], 501n)).to.equal(400n);
    expect(room([{ amount: 1_450n, merchant_id: 'other' }], 501n)).to.equal(50n);
    expect(room([{ amount: 1_600n, merchant_id: 'other' }], 501n)).to.equal(0n);
    expect(room([{ amount: 300n }], 400n), 'goes by itself').to.equal(undefined);
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
    expect(refusal([place, { amount: 300n }], PER_HOUR, { attempt: 2, amount: 701n })).to.match(/ 1001 /);
    expect(refusal([place, { amount: 500n }], PER_HOUR, { attempt: 2, amount: 100n })).to.match(/ 1100 /);
  });

  it('count what a clock that was ahead has signed from when it is seen, and all again that one had forgotten', () => {
    const year = 365 * 24 * 60;
    const moved = movedBy(lines([{ ago: -year }, { ago: 30 }]));
    const countAt = (minutes: number): number => {
      const now = new Date(NOW.getTime() + minutes * MINUTE_MS);
      return moved.of(ASKED, now).filter(([, { at }]) => at > now.getTime() - 60 * MINUTE_MS).length;
    };
    expect([0, 59, 61].map(countAt), 'the right clock').to.deep.equal([2, 1, 0]);
    expect([year, 0].map(countAt), 'ahead again, and back').to.deep.equal([1, 2]);
  });

  it('count nothing as older because a clock was behind for a while, whatever was asked for then', () => {
    const moved = movedBy(lines([{ ago: 1 }, { ago: 1, currency: 'BNB' }]));
    const countAt = (minutes: number, currency: 'USDT' | 'BNB'): number => {
      const now = new Date(NOW.getTime() + minutes * MINUTE_MS);
      const places = moved.of({ network: 'bsc', currency }, now);
      return places.filter(([, { at }]) => at > now.getTime() - 60 * MINUTE_MS).length;
    };
    for (const behind of [55, 2 * 60, 48 * 60]) {
      expect(countAt(-behind, 'BNB'), 'behind').to.equal(1);
      expect([countAt(10, 'USDT'), countAt(10, 'BNB')], `right again after ${behind}`).to.deep.equal([1, 1]);
    }
    expect(countAt(60, 'USDT'), 'an hour later').to.equal(0);
  });
});

describe('a signer with limits', function () {
  this.timeout(60_000);
  let the: SignerStage;
  before(async () => {
    the = await startSignerStage();
    const most = 6n * 10n ** 18n;
    await the.signer({
      limits: { perHour: NONE, perDay: ({ currency }) => (currency === 'USDT' ? most : undefined) },
    });
  });
  after(() => the?.stop());

  it('signs for another merchant what one has left over, and says in a row how much of too much would go', async () => {
    const { merchantId } = await createMerchant(the.deps, {
      name: 'Other',
      subscriptionActive: true,
      withdraw: { bsc: DESTINATIONS.bsc[1] },
    });
    await the.signed(await the.ask(await the.planned()));
    await the.signed(await the.ask(await the.planned()));
    await the.refused(
      await the.ask(await the.planned()),
      /^limit: .* for this merchant .*PER_DAY_MERCHANT allows/,
    );
    const place = await the.place('bsc', merchantId);
    await the.deposit(place, 'USDT', 15n * 10n ** 17n);
    await the.signed(await the.ask(await the.plan(place, 'USDT', merchantId)));
    const large = await the.place('bsc', merchantId);
    await the.deposit(large, 'USDT', 21n * 10n ** 17n);
    const asked = await the.ask(await the.plan(large, 'USDT', merchantId));
    await the.refused(
      asked,
      /^limit 500000000000000000: 2100000000000000000 units .* raise SIGN_MAX_PER_DAY_MERCHANT$/,
    );
  });
});
