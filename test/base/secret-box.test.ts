import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { SecretBoxError } from '../../src/base/errors.ts';
import { createSecretBox, hashToken } from '../../src/base/secret-box.ts';

/** Version 1, by a key of sevens, for "row". */
const UNMARKED = 'Ad2bOncmGgykUS8LkNzggUfMcSlTG9XU7m+0RTzn/0agnyv7gu+8lyE=';
const box = createSecretBox(randomBytes(32));

describe('secret box', () => {
  it('opens what it sealed, for any text and place', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, place) => {
        expect(box.open(box.seal(text, place), place)).to.equal(text);
      }),
    );
  });

  it('never seals the same text to the same bytes, and does not contain it', () => {
    const sealed = Array.from({ length: 100 }, () => box.seal('whsec_secret', 'row').toString('hex'));
    expect(new Set(sealed).size).to.equal(100);
    expect(Buffer.from(sealed[0] ?? '', 'hex').toString('latin1')).not.to.contain('whsec_secret');
  });

  it('refuses another place, another key, a change of any single bit, every truncation and an extension', () => {
    const sealed = box.seal('whsec_secret', 'row');
    expect(() => box.open(sealed, 'row-2')).to.throw(SecretBoxError, /does not open/);
    expect(() => createSecretBox(randomBytes(32)).open(sealed, 'row')).to.throw(SecretBoxError);
    const wrong: Uint8Array[] = [Buffer.concat([sealed, Buffer.of(0)])];
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      wrong.push(changed);
    }
    for (let length = 0; length < sealed.length; length += 1) wrong.push(sealed.subarray(0, length));
    for (const [index, value] of wrong.entries())
      expect(() => box.open(Buffer.from(value), 'row'), `${index}`).to.throw(SecretBoxError);
  });

  it('says nothing of the content and ends with what to do', () => {
    try {
      box.open(box.seal('hunter2', 'row'), 'other');
      expect.fail('opened');
    } catch (error) {
      expect(String(error))
        .to.match(/SECRETS_KEY.*rotate the secret\.$/)
        .and.not.to.contain('hunter2');
    }
  });

  it('opens what an earlier key sealed, seals under the present one alone, and tells the two apart', () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const [before, between, after] = [
      createSecretBox(older),
      createSecretBox(newer, older),
      createSecretBox(newer),
    ];
    const sealed = before.seal('whsec_secret', 'row');
    expect(between.open(sealed, 'row')).to.equal('whsec_secret');
    expect(() => between.open(sealed, 'other')).to.throw(SecretBoxError);
    expect(() => after.open(sealed, 'row')).to.throw(SecretBoxError, /does not open/);
    const anew = between.seal('whsec_secret', 'row');
    expect(after.open(anew, 'row')).to.equal('whsec_secret');
    const begins = (value: Buffer) => value.subarray(0, after.mark.length).equals(after.mark);
    expect([begins(anew), begins(sealed)]).to.deep.equal([true, false]);
    expect([before.knowsPrevious, between.knowsPrevious]).to.deep.equal([false, true]);
  });

  it('opens what was sealed before keys had marks, with either key', () => {
    const key = Buffer.alloc(32, 7);
    const sealed = Buffer.from(UNMARKED, 'base64');
    expect(createSecretBox(key).open(sealed, 'row')).to.equal('whsec_secret');
    expect(createSecretBox(randomBytes(32), key).open(sealed, 'row')).to.equal('whsec_secret');
    expect(() => createSecretBox(key).open(sealed, 'other')).to.throw(SecretBoxError);
  });

  it('takes only keys of 32 bytes', () => {
    for (const length of [0, 16, 31, 33, 64])
      expect(() => createSecretBox(randomBytes(length))).to.throw(RangeError);
  });

  it('hashes tokens with SHA-256 as lower-case hex', () => {
    // FIPS 180-4 example "abc".
    expect(hashToken('abc')).to.equal('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
