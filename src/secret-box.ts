import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { OperatorError } from './errors.ts';

export type SecretBox = {
  /** Encrypts for one place: `associatedData` is the row's id, so that a value copied to another row does not open. */
  seal(plaintext: string, associatedData: string): Buffer;
  /** The text that was sealed for this place. Throws {@link SecretBoxError} for any other key, place or content. */
  open(sealed: Uint8Array, associatedData: string): string;
};

/** A sealed value does not open: wrong SECRETS_KEY, moved to another row, or changed. Says nothing of the content. */
export class SecretBoxError extends OperatorError {
  constructor(problem: string) {
    super(problem, 'Start with the SECRETS_KEY that was in use when it was written, or have the merchant rotate the secret');
    this.name = 'SecretBoxError';
  }
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + NONCE_BYTES;

/**
 * AES-256-GCM under one 32-byte key. Layout: version byte, 96-bit random nonce, ciphertext, 128-bit tag.
 * The version byte is authenticated too. Random nonces are safe to about 2^32 values for one key (NIST SP 800-38D, 8.3).
 */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.length !== 32) throw new RangeError('the key of a secret box has 32 bytes');
  return {
    seal(plaintext, associatedData) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(boundTo(associatedData));
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, body, cipher.getAuthTag()]);
    },
    open(sealed, associatedData) {
      if (sealed.length < HEADER_BYTES + TAG_BYTES) throw new SecretBoxError('A stored secret is too short to be one');
      if (sealed[0] !== VERSION) throw new SecretBoxError(`A stored secret has the unknown version ${sealed[0]}`);
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(1, HEADER_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(associatedData));
      decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(HEADER_BYTES, sealed.length - TAG_BYTES)), decipher.final()]).toString(
          'utf8',
        );
      } catch {
        throw new SecretBoxError('A stored secret does not open with this SECRETS_KEY');
      }
    },
  };
}

/**
 * SHA-256 of a token as lower-case hex, which is all that the database keeps of API keys and sessions.
 * No salt and no stretching: the tokens are 256 random bits, there is nothing to guess.
 */
export function hashToken(token: string): string {
  return createHash('sha256').update(token, 'utf8').digest('hex');
}

function boundTo(associatedData: string): Buffer {
  return Buffer.from(`${VERSION}:${associatedData}`, 'utf8');
}
