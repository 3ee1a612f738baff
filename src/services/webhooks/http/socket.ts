import { X509Certificate } from 'node:crypto';
import net, { type Socket } from 'node:net';
import tls, { type SecureContext, type TLSSocket } from 'node:tls';
import { parseIp } from '../../../domain/ip-address.ts';
import { AttemptFailed, describeNetworkError, NO_CONNECTION } from './attempt-failed.ts';
import type { Target } from './target.ts';

export type OpenSocket = {
  readonly target: Target;
  /** Vetted addresses, best first. Never empty. */
  readonly addresses: readonly string[];
  readonly context: SecureContext;
  /** The time of the whole attempt; each connection but the last gets at most an equal share of it. */
  readonly timeoutMs: number;
  /** The promise rejects with the reason of this signal. */
  readonly signal: AbortSignal;
};

/**
 * Opens a TCP or, for https, a verified TLS connection to one of the vetted addresses,
 * trying the next one when a connection fails. A TLS failure is not tried elsewhere:
 * the name is the same. Rejects with AttemptFailed; no socket is left behind then.
 */
export async function openSocket(input: OpenSocket): Promise<Socket> {
  const shareMs = Math.ceil(input.timeoutMs / (input.addresses.length + 1));
  let failure: unknown = new AttemptFailed('DNS', 'host name does not resolve');
  for (const [index, address] of input.addresses.entries()) {
    const isLast = index === input.addresses.length - 1;
    let socket: Socket;
    try {
      socket = await connect(address, input, isLast ? undefined : shareMs);
    } catch (error) {
      failure = error;
      if (input.signal.aborted) break;
      continue;
    }
    return input.target.url.protocol === 'https:' ? secure(socket, input) : socket;
  }
  throw failure;
}

/**
 * The trust store for receivers: the machine's authorities and
 * the operator's. Throws when `caPem` holds no certificate.
 */
export function createReceiverContext(caPem: string | undefined): SecureContext {
  if (caPem === undefined) return tls.createSecureContext({ minVersion: 'TLSv1.2' });
  try {
    new X509Certificate(caPem);
  } catch {
    throw new Error(
      'WEBHOOK_CA_FILE holds no PEM certificate: give a file that starts with -----BEGIN CERTIFICATE-----, or unset it',
    );
  }
  return tls.createSecureContext({ minVersion: 'TLSv1.2', ca: [...tls.getCACertificates('default'), caPem] });
}

function connect(address: string, input: OpenSocket, connectMs: number | undefined): Promise<Socket> {
  const socket = net.connect({
    host: address,
    port: input.target.port,
    autoSelectFamily: false,
    noDelay: true,
  });
  const connected = settle(socket, 'connect', 'CONNECT', input.signal, connectMs);
  return connected.then(() => {
    if (isSameAddress(socket.remoteAddress, address)) return socket;
    socket.destroy();
    throw new AttemptFailed('TARGET_REFUSED', 'target refused: the connection went to another address');
  });
}

function secure(plain: Socket, input: OpenSocket): Promise<TLSSocket> {
  const { target } = input;
  // An IP literal must not be sent as a server name; the certificate is then compared with `host`.
  const servername = target.isLiteral ? '' : target.host;
  const socket = tls.connect({
    socket: plain,
    host: target.host,
    servername,
    secureContext: input.context,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true, // stated, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off
  });
  return settle(socket, 'secureConnect', 'TLS', input.signal).then(
    () => socket,
    (error: unknown) => {
      plain.destroy();
      throw error;
    },
  );
}

/**
 * Waits for `event`; on an error, an early close, the time
 * limit or the signal it destroys the socket and rejects.
 */
function settle(
  socket: Socket,
  event: string,
  code: 'CONNECT' | 'TLS',
  signal: AbortSignal,
  waitMs?: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays on the socket for its life: an error that comes after
    // nobody waits for the socket any more must not end the process.
    socket.on('error', (error) => finish(() => reject(describeNetworkError(code, error))));
    const onClose = () => finish(() => reject(new AttemptFailed(code, 'connection closed before an answer')));
    const onEvent = () => finish(resolve);
    const onAbort = () => abandon(signal.reason);
    const timer =
      waitMs === undefined
        ? undefined
        : setTimeout(() => abandon(new AttemptFailed('CONNECT', NO_CONNECTION)), waitMs);
    const abandon = (reason: unknown) => {
      finish(() => reject(reason));
      socket.destroy();
    };
    const finish = (act: () => void) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.off('close', onClose);
      socket.off(event, onEvent);
      act();
    };
    socket.once(event, onEvent);
    socket.once('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function isSameAddress(seen: string | undefined, wanted: string): boolean {
  const a = parseIp(seen ?? '');
  const b = parseIp(wanted);
  return a !== undefined && b !== undefined && a.family === b.family && a.bits === b.bits;
}
