import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/**
 * Sends the head of a POST, which is let in, and keeps its body back: the function that it answers with sends
 * the body and tells what came of it.
 */
export async function heldBack(url: string, body: string, headers: Record<string, string>) {
  const sent = request(url, {
    method: 'POST',
    headers: { Expect: '100-continue', 'Content-Length': Buffer.byteLength(body), ...headers },
  });
  sent.flushHeaders();
  await once(sent, 'continue');
  return async () => {
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.setEncoding('utf8');
    const text = (await answer.toArray()).join('');
    return { status: answer.statusCode, location: answer.headers.location, text };
  };
}
