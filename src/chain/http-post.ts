// POST over kept connections, for the blocks of a catch-up: `fetch` costs several times the processor time of the parsing that follows it.
import { isAscii } from 'node:buffer';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { EndpointFailure } from './errors.ts';

export type HttpQuestion = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Of the answer's body, after it was unpacked. */
  readonly maxBytes: number;
};
export type HttpAnswer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string };

/**
 * Sends one POST and reads the whole answer, whatever its status; redirects are not followed. Throws EndpointFailure for an answer that is
 * too large or packed wrongly, and the socket's own error for a connection that fails. Ends at once when `signal` aborts, with any error:
 * the caller knows why it aborted.
 */
export type HttpPost = (question: HttpQuestion, signal: AbortSignal) => Promise<HttpAnswer>;

const MAX_SOCKETS = 64;
const unpack = promisify(gunzip);

/** Makes a poster with connections of its own. Idle ones do not keep the process running. */
export function createHttpPost(): HttpPost {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS / 4 };
  const agents = { http: new HttpAgent(options), https: new HttpsAgent(options) };
  return async (question, signal) => {
    const agent = question.url.startsWith('https:') ? agents.https : agents.http;
    try {
      return await exchange(question, agent, signal);
    } catch (error) {
      // The other side closed a kept connection just when it was used again: every question here may be asked twice.
      if (!(error instanceof StaleConnection) || signal.aborted) throw error;
      return await exchange(question, false, signal);
    }
  };
}

class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

async function exchange(question: HttpQuestion, agent: HttpAgent | HttpsAgent | false, signal: AbortSignal): Promise<HttpAnswer> {
  const { response, bytes } = await receive(question, agent, signal);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response, bytes, question.maxBytes) };
}

function receive(question: HttpQuestion, agent: HttpAgent | HttpsAgent | false, signal: AbortSignal) {
  const { url, headers, body, maxBytes } = question;
  return new Promise<{ response: IncomingMessage; bytes: Buffer }>((resolve, reject) => {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest;
    const asked = send(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'accept-encoding': 'gzip', 'content-length': Buffer.byteLength(body) },
    });
    const stop = (): void => void asked.destroy(new Error('stopped'));
    signal.addEventListener('abort', stop, { once: true });
    let answered = false;
    const fail = (error: Error): void => {
      signal.removeEventListener('abort', stop);
      reject(asked.reusedSocket && !answered && !signal.aborted ? new StaleConnection('a kept connection was closed') : error);
    };
    asked.on('error', fail);
    asked.once('response', (response) => {
      answered = true;
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size <= maxBytes) chunks.push(chunk);
        else {
          fail(tooLarge(maxBytes));
          asked.destroy();
        }
      });
      response.on('error', fail);
      response.once('end', () => {
        signal.removeEventListener('abort', stop);
        resolve({ response, bytes: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size) });
      });
    });
    asked.end(body);
  });
}

async function textOf(response: IncomingMessage, bytes: Buffer, maxBytes: number): Promise<string> {
  const packed = response.headers['content-encoding'];
  if (packed === undefined || packed === 'identity') return decode(bytes);
  if (packed !== 'gzip' && packed !== 'x-gzip') throw new EndpointFailure('an answer packed in a way that was not asked for');
  try {
    // In a thread of its own; a small answer that unpacks to gigabytes ends at the limit.
    return decode(await unpack(bytes, { maxOutputLength: maxBytes }));
  } catch (error) {
    throw error instanceof RangeError ? tooLarge(maxBytes) : new EndpointFailure('not JSON or cut short');
  }
}

/** UTF-8, which for the plain characters that nearly all answers consist of is the same as Latin-1 and, read as that, several times faster. */
function decode(bytes: Buffer): string {
  return isAscii(bytes) ? bytes.toString('latin1') : bytes.toString('utf8');
}

function tooLarge(maxBytes: number): EndpointFailure {
  return new EndpointFailure(`answer larger than ${Math.floor(maxBytes / 1_048_576)} MiB`);
}
