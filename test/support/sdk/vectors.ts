import { readFileSync } from 'node:fs';

/** A webhook as it arrives, and what every verifier has to say of it: `accepted`, or a code. */
export type WebhookVector = {
  readonly name: string;
  readonly secret: string;
  /** The body as text, or its bytes where they are no text. */
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The receiver's clock; unset means the time at which it was sent. */
  readonly now?: string;
  readonly toleranceSeconds?: number;
  readonly expected: string;
};

const FILE = new URL('../../vectors/webhooks.json', import.meta.url);

/** The vectors that every verifier is held to, in whatever language. */
export function webhookVectors(): readonly (WebhookVector & {
  readonly now: string;
  readonly bytes: Buffer;
})[] {
  const { now, vectors } = JSON.parse(readFileSync(FILE, 'utf8')) as {
    now: string;
    vectors: WebhookVector[];
  };
  return vectors.map((vector) => ({
    now,
    ...vector,
    bytes: vector.bodyBase64 ? Buffer.from(vector.bodyBase64, 'base64') : Buffer.from(vector.body ?? ''),
  }));
}
