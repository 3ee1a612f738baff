import { hash } from '@node-rs/argon2';
import { expect } from 'chai';
import {
  checkNewPassword,
  decoyHash,
  hashPassword,
  isOutdated,
  isPassword,
  PASSWORD_COST,
} from '../../../src/services/access/passwords.ts';

const EMAIL = 'someone.long@example.com';
const problemOf = (password: string): string | null => {
  try {
    checkNewPassword(password, EMAIL);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('passwords', () => {
  it('are hashed by argon2id with what OWASP asks for at least', async () => {
    expect(await hashPassword('correct horse battery')).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(PASSWORD_COST.memoryCost).to.be.at.least(19_456);
    expect(PASSWORD_COST.timeCost).to.be.at.least(2);
  });

  it('fit their own hash and no other, however a keyboard composes their letters', async () => {
    const stored = await hashPassword('Zoë and the Ångström');
    expect(await isPassword(stored, 'Zoe\u0308 and the A\u030angstro\u0308m')).to.equal(true);
    expect(await isPassword(stored, 'zoë and the ångström')).to.equal(false);
    expect(await isPassword(stored, '')).to.equal(false);
  });

  it('are hashed anew only when the cost has risen', async () => {
    const stored = async (cost: typeof PASSWORD_COST) => isOutdated(await hash('x', cost));
    expect(await stored(PASSWORD_COST)).to.equal(false);
    expect(await stored({ ...PASSWORD_COST, memoryCost: PASSWORD_COST.memoryCost - 1 })).to.equal(true);
    expect(await stored({ ...PASSWORD_COST, timeCost: 1 })).to.equal(true);
    expect(await stored({ ...PASSWORD_COST, memoryCost: PASSWORD_COST.memoryCost * 2 })).to.equal(false);
  });

  it('have a decoy that costs the same and fits nothing', async () => {
    const decoy = decoyHash();
    expect(decoy).to.not.equal(decoyHash());
    expect(isOutdated(decoy)).to.equal(false);
    for (const guess of ['', 'x', decoy]) expect(await isPassword(decoy, guess)).to.equal(false);
  });

  it('have twelve characters at least, 256 bytes at most, and are none of the first guesses', () => {
    const good = [
      'correct horse',
      'zwölf Zeichen',
      '\u{1f600}\u{1f601}\u{1f602}\u{1f603}\u{1f604} and you',
      'tr0ub4dor&3!',
      'summer of 2026',
      'monkey and dragon',
      `correct horse ${'é'.repeat(121)}`,
    ];
    for (const password of good) expect(problemOf(password), password).to.equal(null);
    const bad: [string, RegExp][] = [
      ['', /at least 12 characters/],
      ['elevenchars', /at least 12 characters/],
      ['\u{1f600}'.repeat(6), /at least 12 characters/],
      [`correct horse! ${'é'.repeat(121)}`, /at most 256 bytes/],
      ['correct\0horse', /plain text/],
      ['correct horse \ud800', /plain text/],
      ['aaaaaaaaaaaa', /easy to guess/],
      ['abababababab', /easy to guess/],
      ['123456789012', /easy to guess/],
      ['abcdefghijkl', /easy to guess/],
      ['Password1234', /easy to guess/],
      ['passw0rd!!!!', /easy to guess/],
      ['qwertyuiop12', /easy to guess/],
      ...[
        'Summer2026!!',
        'SUMMER 2026 !',
        '..monkey..2026',
        'dragondragon',
        'Michael-1985-',
        'summer2026summer',
        'Trustno1!!!!',
      ].map((password): [string, RegExp] => [password, /easy to guess/]),
      ['someone.long@EXAMPLE.com', /email address/],
      ['Someone.Long', /email address/],
    ];
    for (const [password, problem] of bad) expect(problemOf(password), password).to.match(problem);
  });

  it('never stand in the refusal', () => {
    expect(problemOf('aaaaaaaaaaaa')).to.not.contain('aaaa');
  });
});
