import type { SealBox } from '../deps.ts';
import { normaliseEmail } from './users.ts';

const LENGTH = 16;

/**
 * What a log line says of an account instead of its email, whether such an account
 * exists or not: the same for the same account under the same SECRETS_KEY, and
 * nothing that anybody without that key could compare with an email.
 */
export function accountHash(box: Pick<SealBox, 'keyedHash'>, email: string): string {
  return box.keyedHash(normaliseEmail(email), 'account').slice(0, LENGTH);
}
