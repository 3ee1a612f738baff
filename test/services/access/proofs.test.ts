import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import { TOTP } from 'otpauth';
import {
  checkNewPassword,
  decoyHash,
  hashPassword,
  isOutdated,
  isPassword,
  PASSWORD_COST,
} from '../../../src/services/access/passwords.ts';
import { stepOfCode } from '../../../src/services/access/totp.ts';

/** The secret of RFC 6238, appendix B ("12345678901234567890"), in base32. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

describe('codes of an authenticator app', () => {
  it('are those of RFC 6238', () => {
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_234_567_890, '005924'],
      [20_000_000_000, '353130'],
    ] as const)
      expect(stepOfCode(SECRET, code, new Date(seconds * 1_000))).to.equal(Math.floor(seconds / 30));
  });

  it('are good in their own half minute and the ones beside it', () => {
    const at = new Date(1_700_000_010_000);
    const step = Math.floor(at.getTime() / 30_000);
    for (const offset of [-3, -2, -1, 0, 1, 2, 3]) {
      const code = new TOTP({ secret: SECRET }).generate({ timestamp: at.getTime() + offset * 30_000 });
      expect(stepOfCode(SECRET, code, at)).to.equal(Math.abs(offset) < 2 ? step + offset : undefined);
    }
  });

  it('are six digits and nothing else', () => {
    const at = new Date(59_000);
    expect(stepOfCode(SECRET, ' 287 082 ', at)).to.equal(1);
    for (const text of ['', '28708', '2870820', '28708a', '-87082'])
      expect(stepOfCode(SECRET, text, at), text).to.equal(undefined);
  });
});

describe('passwords', () => {
  const problemOf = (password: string): string | null => {
    try {
      checkNewPassword(password, 'someone.long@example.com');
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('are hashed by argon2id with what OWASP asks for at least, and anew only when the cost has risen', async () => {
    expect(await hashPassword('correct horse battery')).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    for (const [cost, outdated] of [
      [{}, false],
      [{ memoryCost: PASSWORD_COST.memoryCost - 1 }, true],
      [{ timeCost: 1 }, true],
      [{ memoryCost: PASSWORD_COST.memoryCost * 2 }, false],
    ] as const)
      expect(isOutdated(await hash('x', { ...PASSWORD_COST, ...cost })), JSON.stringify(cost)).to.equal(
        outdated,
      );
  });

  it('fit their own hash and no other, however a keyboard composes their letters', async () => {
    const stored = await hashPassword('Zoë and the Ångström');
    expect(await isPassword(stored, 'Zoe\u0308 and the A\u030angstro\u0308m')).to.equal(true);
    for (const wrong of ['zoë and the ångström', '']) expect(await isPassword(stored, wrong)).to.equal(false);
  });

  it('have a decoy that costs the same and fits nothing', async () => {
    const decoy = decoyHash();
    expect(decoy).to.not.equal(decoyHash());
    expect(isOutdated(decoy)).to.equal(false);
    for (const guess of ['', 'x', decoy]) expect(await isPassword(decoy, guess)).to.equal(false);
  });

  it('have twelve characters at least, 256 bytes at most, and are none of the first guesses', () => {
    for (const password of ['correct horse', 'zwölf Zeichen', `correct horse ${'é'.repeat(121)}`])
      expect(problemOf(password), password).to.equal(null);
    for (const [problem, passwords] of [
      [/at least 12 characters/, ['', 'elevenchars', '\u{1f600}'.repeat(6)]],
      [/at most 256 bytes/, [`correct horse! ${'é'.repeat(121)}`]],
      [/plain text/, ['correct\0horse', 'correct horse \ud800']],
      [/easy to guess/, ['aaaaaaaaaaaa', 'Password1234', 'SUMMER 2026 !']],
      [/email address/, ['someone.long@EXAMPLE.com', 'Someone.Long']],
    ] as const)
      for (const password of passwords) expect(problemOf(password), password).to.match(problem);
    expect(problemOf('aaaaaaaaaaaa')).to.not.contain('aaaa');
  });
});
