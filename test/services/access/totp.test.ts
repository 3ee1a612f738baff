import { expect } from 'chai';
import { TOTP } from 'otpauth';
import { newTotp, stepOfCode } from '../../../src/services/access/totp.ts';

/** The secret of RFC 6238, appendix B ("12345678901234567890"), in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('codes of an authenticator app', () => {
  it('are those of RFC 6238', () => {
    const vectors: [number, string][] = [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ];
    for (const [seconds, code] of vectors)
      expect(stepOfCode(SECRET, code, new Date(seconds * 1_000))).to.equal(Math.floor(seconds / 30));
  });

  it('are good in their own half minute and the ones beside it', () => {
    const at = new Date(1_700_000_010_000);
    const step = Math.floor(at.getTime() / 30_000);
    const code = (offset: number) =>
      new TOTP({ secret: SECRET }).generate({ timestamp: at.getTime() + offset * 30_000 });
    for (const offset of [-1, 0, 1]) expect(stepOfCode(SECRET, code(offset), at)).to.equal(step + offset);
    for (const offset of [-3, -2, 2, 3]) expect(stepOfCode(SECRET, code(offset), at)).to.equal(undefined);
  });

  it('are six digits and nothing else', () => {
    const at = new Date(59_000);
    expect(stepOfCode(SECRET, ' 287 082 ', at)).to.equal(1);
    for (const text of [
      '',
      '28708',
      '2870820',
      '94287082',
      '28708a',
      '-87082',
      '２８７０８２',
      '287082\0',
      '2870.2',
    ])
      expect(stepOfCode(SECRET, text, at), text).to.equal(undefined);
  });

  it('come from a new secret of 160 bits, in a URI that apps take', () => {
    const made = newTotp('some+one@example.com');
    expect(made.secret).to.match(/^[A-Z2-7]{32}$/);
    expect(newTotp('some+one@example.com').secret).to.not.equal(made.secret);
    const uri = new URL(made.uri);
    expect([uri.protocol, uri.host, decodeURIComponent(uri.pathname)]).to.deep.equal([
      'otpauth:',
      'totp',
      '/Deposit Gateway:some+one@example.com',
    ]);
    expect(Object.fromEntries(uri.searchParams)).to.include({
      secret: made.secret,
      digits: '6',
      period: '30',
      algorithm: 'SHA1',
      issuer: 'Deposit Gateway',
    });
  });
});
