import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import type { ListedEvent } from '../../../packages/sdk/src/index.ts';
import { WEBHOOK_LIMITS } from '../../domain/webhook.ts';
import { buildHeaders } from '../../services/webhooks/http/signature.ts';

/** The shop's answer to an event, or why there is none. `reached`: something may have arrived. */
export type ShopAnswer =
  | { readonly status: number; readonly text: string; readonly ms: number }
  | { readonly error: string; readonly reached: boolean; readonly ms: number };

const SHOWN_BYTES = 300;
/** No connection was made: the shop knows nothing of the event. */
const NOT_REACHED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
]);

/**
 * Sends an event as its webhook would come: the same bytes, both signatures, ten seconds for the answer. When
 * `stop` aborts, the answer is waited for no longer.
 */
export async function sendToShop(
  url: URL,
  event: ListedEvent,
  { secret, stop }: { readonly secret: string; readonly stop: AbortSignal },
): Promise<ShopAnswer> {
  const body = Buffer.from(event.payload, 'utf8');
  const head = { eventId: event.id, event: event.event, attempt: 1, sentAt: new Date(), body };
  const headers = { ...buildHeaders({ ...head, secrets: [secret] }), 'Content-Length': body.length };
  const begin = performance.now();
  const ms = (): number => Math.round(performance.now() - begin);
  return await new Promise<ShopAnswer>((resolve) => {
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
    const late = AbortSignal.timeout(WEBHOOK_LIMITS.attemptMs);
    // Many shops listen on one of the two addresses of localhost, and Node 18 would try the first alone.
    const place = { method: 'POST', headers, agent: false, autoSelectFamily: true, signal: late };
    const request = send(url, place, (response) => {
      const { statusCode: status = 0 } = response;
      const parts: Buffer[] = [];
      let bytes = 0;
      const end = (): void => {
        resolve({ status, text: Buffer.concat(parts).toString('utf8').slice(0, SHOWN_BYTES), ms: ms() });
        response.destroy();
      };
      response.on('data', (part: Buffer) => {
        if (bytes < SHOWN_BYTES) parts.push(part.subarray(0, SHOWN_BYTES));
        bytes += part.length;
        if (bytes > WEBHOOK_LIMITS.bodyReadBytes) end();
      });
      response.once('end', end).once('error', end).once('close', end);
    });
    const end = (): unknown => request.destroy(new Error('ended before the answer'));
    stop.addEventListener('abort', end, { once: true });
    request.once('close', () => stop.removeEventListener('abort', end));
    request.once('error', (error: NodeJS.ErrnoException) => {
      const isLate = late.aborted;
      const said = isLate ? `no answer within ${WEBHOOK_LIMITS.attemptMs / 1_000} s` : reasonOf(error);
      resolve({ error: said, reached: isLate || !NOT_REACHED.has(error.code ?? ''), ms: ms() });
    });
    request.end(body);
  });
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === undefined || message.includes(code)
    ? message || 'the connection broke'
    : `${code} ${message}`;
}
