import { expect } from 'chai';
import { decideWallet, type Unmined } from '../../../src/domain/payouts/wallet.ts';
import { ago, NOW } from './facts.ts';

const PACE = { now: NOW, resendMs: 15_000, outbidMs: 60_000 };
const HOUR = 3_600_000;
const unmined = (signedMs: number, sentMs: number | null, change: Partial<Unmined> = {}): Unmined => ({
  id: 'one',
  signedAt: ago(signedMs),
  sentAt: sentMs === null ? null : ago(sentMs),
  mayBeReplaced: true,
  ...change,
});

describe('a wallet that has signed what no block has', () => {
  const cases: (readonly [string, readonly Unmined[], string])[] = [
    ['is done where blocks have everything', [], 'rest'],
    ['sends what was never sent', [unmined(1_000, null)], 'send'],
    ['lets be what was sent a moment ago', [unmined(9_000, 8_000)], 'wait'],
    ['sends it again', [unmined(16_000, 16_000)], 'send'],
    ['sends it again at once where a wrong clock says that it was', [unmined(1_000, -20_000)], 'send'],
    ['replaces it by fee', [unmined(61_000, 5_000)], 'replace'],
    ['sends it first where nobody has looked for an hour', [unmined(HOUR, HOUR)], 'send'],
    ['does not replace then what was sent a moment before', [unmined(HOUR, 4_999)], 'wait'],
    ['replaces the lowest before it sends others', [unmined(HOUR, 6_000), unmined(HOUR, HOUR)], 'replace'],
    ['sends the lowest before it replaces others', [unmined(HOUR, HOUR), unmined(HOUR, 6_000)], 'send'],
    [
      'asks for one replacement at a time, and for none of a payout that is over',
      [unmined(HOUR, 6_000, { mayBeReplaced: false })],
      'wait',
    ],
  ];
  for (const [what, given, does] of cases)
    it(what, () => {
      expect(decideWallet(given, PACE).does).to.equal(does);
    });

  it('sends the lowest nonces first, and replaces the lowest that may be', () => {
    const many = Array.from({ length: 25 }, (_, nonce) => unmined(20_000, 16_000, { id: `${nonce}` }));
    expect(decideWallet(many, PACE)).to.deep.equal({
      does: 'send',
      ids: many.slice(0, 20).map(({ id }) => id),
    });
    const [lowest, ...others] = many.map(({ id }) => unmined(HOUR, 6_000, { id }));
    const old = [{ ...unmined(HOUR, 6_000), ...lowest, mayBeReplaced: false }, ...others];
    expect(decideWallet(old, PACE)).to.deep.equal({ does: 'replace', id: '1' });
  });

  it('replaces nothing on a chain where what is signed ends by its time', () => {
    expect(
      decideWallet([unmined(HOUR, 6_000)], { ...PACE, outbidMs: Number.POSITIVE_INFINITY }).does,
    ).to.equal('wait');
  });
});
