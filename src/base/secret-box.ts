import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { SecretBoxError } from './errors.ts';

export type SecretBox = {
  /**
   * Encrypts for one place: `associatedData` is the row's
   * id, so that a value copied to another row does not open.
   */
  seal(plaintext: string, associatedData: string): Buffer;
  /**
   * The text that was sealed for this place. Throws {@link
   * SecretBoxError} for any other key, place or content.
   */
  open(sealed: Uint8Array, associatedData: string): string;
  /**
   * The bytes at the beginning of every value that is sealed under the present key, and of no other value.
   */
  readonly mark: Buffer;
  /** Whether values under the previous key open too. */
  readonly knowsPrevious: boolean;
  /** A hash of the text as hex that cannot be made without the present key; it differs for each purpose. */
  keyedHash(text: string, purpose: string): string;
  /** The mark and the keyed hashes of the previous key, for what was made under it; undefined without one. */
  readonly previous: Pick<SecretBox, 'mark' | 'keyedHash'> | undefined;
};

/** The version of values without the mark of a key, which were sealed before keys could be changed. */
const UNMARKED = 1;
const MARKED = 2;
const KEY_ID_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM under a 32-byte key; values of `previous` are opened too, and nothing is sealed under it.
 * Layout: version byte, four bytes that tell which key it was (taken from a hash, so they reveal nothing of
 * the key), 96-bit random nonce, ciphertext, 128-bit tag. All of it is authenticated. Random nonces are safe
 * to about 2^32 values for one key (NIST SP 800-38D, 8.3).
 */
export function createSecretBox(key: Uint8Array, previous?: Uint8Array): SecretBox {
  const [mark, ...others] = [key, ...(previous ? [previous] : [])].map(markOf);
  if (!mark) throw new RangeError('a secret box has a key');
  return {
    mark,
    knowsPrevious: others.length > 0,
    keyedHash: keyedHashUnder(key),
    previous: previous && { mark: markOf(previous), keyedHash: keyedHashUnder(previous) },
    seal(plaintext, associatedData) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(mark, associatedData));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([mark, nonce, body, cipher.getAuthTag()]);
    },
    open(given, associatedData) {
      const sealed = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      const version = sealed[0];
      if (version !== UNMARKED && version !== MARKED)
        throw new SecretBoxError(`A stored secret has the unknown version ${version}`);
      const head = sealed.subarray(0, version === MARKED ? mark.length : 1);
      if (sealed.length < head.length + NONCE_BYTES + TAG_BYTES)
        throw new SecretBoxError('A stored secret is too short to be one');
      const known = [key, ...(previous ? [previous] : [])].filter(
        (one) => version === UNMARKED || markOf(one).equals(head),
      );
      for (const one of known) {
        const text = opened(one, sealed, head, associatedData);
        if (text !== undefined) return text;
      }
      throw new SecretBoxError('A stored secret does not open with this SECRETS_KEY');
    },
  };
}

function keyedHashUnder(key: Uint8Array): SecretBox['keyedHash'] {
  return (text, purpose) => {
    const derived = Buffer.from(hkdfSync('sha256', key, '', `keyed hash of ${purpose}`, 32));
    return createHmac('sha256', derived).update(text, 'utf8').digest('hex');
  };
}

function opened(key: Uint8Array, sealed: Buffer, head: Buffer, associatedData: string): string | undefined {
  const bodyAt = head.length + NONCE_BYTES;
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(head.length, bodyAt), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(boundTo(head, associatedData));
  decipher.setAuthTag(sealed.subarray(tagAt));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(bodyAt, tagAt)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    return undefined;
  }
}

function markOf(key: Uint8Array): Buffer {
  if (key.length !== 32) throw new RangeError('the key of a secret box has 32 bytes');
  const id = createHash('sha256')
    .update('key of a secret box')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES);
  return Buffer.concat([Buffer.of(MARKED), id]);
}

/**
 * SHA-256 of a token as lower-case hex: the database keeps only this of API keys and sessions. There is no
 * salt and no stretching, because the tokens are 256 random bits and cannot be guessed.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

function boundTo(head: Buffer, associatedData: string): Buffer {
  const place = head.length === 1 ? `${UNMARKED}` : head.toString('hex');
  return Buffer.from(`${place}:${associatedData}`, 'utf8');
}
