import type { AttemptErrorCode } from '../../../domain/webhook.ts';

/**
 * An attempt that ended without an HTTP response. The
 * message is short, plain and safe to show to the merchant.
 */
export class AttemptFailed extends Error {
  override readonly name = 'AttemptFailed';
  readonly code: AttemptErrorCode;

  constructor(code: AttemptErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Turns an error of Node's network stack into the attempt's failure. `fallback` is the class of an error
 * that the table does not know. Node's own messages are never passed on: they name addresses of our network.
 */
export function describeNetworkError(fallback: AttemptErrorCode, error: unknown): AttemptFailed {
  if (error instanceof AttemptFailed) return error;
  const code = codeOf(error);
  const known = KNOWN[code];
  if (known) return new AttemptFailed(known[0], known[1]);
  if (code.startsWith('HPE_')) return new AttemptFailed('PROTOCOL', 'the answer is not valid HTTP');
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_'))
    return new AttemptFailed('TLS', 'TLS handshake failed');
  const label = fallback !== 'CONNECT' && /^[A-Z0-9_]{1,40}$/.test(code) ? ` (${code})` : '';
  return new AttemptFailed(fallback, `${FALLBACK_MESSAGE[fallback]}${label}`);
}

/**
 * Says nothing of whether a port is closed, filtered or without a route: the owner sees that on
 * their own machine, and a stranger, for whom the gateway would be a scanner, is not told. What a
 * certificate lacks is told, because an owner cannot see it otherwise and anybody may look at it.
 */
export const NO_CONNECTION = 'no connection to the receiver';

const FALLBACK_MESSAGE: Readonly<Record<AttemptErrorCode, string>> = {
  TARGET_REFUSED: 'target refused',
  DNS: 'host name lookup failed',
  CONNECT: NO_CONNECTION,
  TLS: 'certificate not trusted',
  TIMEOUT: 'no answer in time',
  RESET: 'connection lost before an answer',
  PROTOCOL: 'the answer is not valid HTTP',
};

const KNOWN: Readonly<Record<string, readonly [AttemptErrorCode, string]>> = {
  ENOTFOUND: ['DNS', 'host name does not resolve'],
  ENODATA: ['DNS', 'host name does not resolve'],
  ECONNRESET: ['RESET', 'connection closed before an answer'],
  EPIPE: ['RESET', 'connection closed before an answer'],
  HPE_HEADER_OVERFLOW: ['PROTOCOL', 'the answer has more than 16 KiB of headers'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['TLS', 'certificate is for another host name'],
  CERT_HAS_EXPIRED: ['TLS', 'certificate has expired'],
  EPROTO: ['TLS', 'TLS handshake failed'],
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
