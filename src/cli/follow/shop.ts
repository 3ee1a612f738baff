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
const NOT_REACHED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL)$/;

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
    const late = AbortSignal.timeout(WEBHOOK_LIMITS.attemptMs);
    const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
    // Many shops listen on one of the two addresses of localhost, and Node 18 would try the first alone.
    const place = { method: 'POST', headers, agent: false, autoSelectFamily: true, signal: late };
    const request = send(url, place, (response) => {
      let text = '';
      let bytes = 0;
      const end = (): void => {
        resolve({ status: response.statusCode ?? 0, text: text.slice(0, SHOWN_BYTES), ms: ms() });
        response.destroy();
      };
      response.setEncoding('utf8').on('data', (part: string) => {
        if (text.length < SHOWN_BYTES) text += part;
        bytes += part.length;
        if (bytes > WEBHOOK_LIMITS.bodyReadBytes) end();
      });
      response.once('end', end).once('error', end).once('close', end);
    });
    const cut = (): unknown => request.destroy(new Error('ended before the answer'));
    stop.addEventListener('abort', cut, { once: true });
    request.once('close', () => stop.removeEventListener('abort', cut));
    request.once('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      const said = message.includes(code) ? message || 'the connection broke' : `${code} ${message}`;
      const error = late.aborted ? `no answer within ${WEBHOOK_LIMITS.attemptMs / 1_000} s` : said;
      resolve({ error, reached: late.aborted || !NOT_REACHED.test(code), ms: ms() });
    });
    request.end(body);
  });
}
