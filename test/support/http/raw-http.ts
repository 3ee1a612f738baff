import { connect } from 'node:net';

/** What a parser returns: tests read it without checking it first. */
type Json = ReturnType<typeof JSON.parse>;

/** One answer as it came over the wire. */
export type RawAnswer = {
  readonly status: number;
  /** In lower case; repeated ones joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** {} where the text is no JSON object. */
  readonly body: Readonly<Record<string, Json>>;
};

export type RawOptions = {
  /** Our own address on the loopback net. */
  readonly from?: string;
  /** The connection is cut from our side after this. */
  readonly limitMs?: number;
};

/** Raw bytes to a server, and every answer until the connection closes, in order. */
export async function exchange(
  origin: string,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<RawAnswer[]> {
  return parseAnswers((await talk(origin, bytes, options)).received);
}

/** The same as bytes, and whether the server closed the connection. */
export async function talk(
  origin: string,
  bytes: string | Buffer,
  options: RawOptions = {},
): Promise<{ received: Buffer; closed: boolean }> {
  const { hostname, port } = new URL(origin);
  return await new Promise((resolve, reject) => {
    const socket = connect({
      port: Number(port),
      host: hostname,
      ...(options.from === undefined ? {} : { localAddress: options.from }),
    });
    const chunks: Buffer[] = [];
    let closed = true;
    const limit = setTimeout(() => {
      closed = false;
      socket.destroy();
    }, options.limitMs ?? 5_000);
    const finish = (): void => {
      clearTimeout(limit);
      resolve({ received: Buffer.concat(chunks), closed });
    };
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('close', finish);
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // A server that has answered may cut us off while we still write.
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    if (typeof bytes === 'string') socket.write(bytes, 'latin1');
    else socket.write(bytes);
  });
}

/** Splits what a server sent into answers, by their own framing. Throws for bytes that are no answer. */
export function parseAnswers(received: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  while (rest.length > 0) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) throw new Error(`half an answer: ${JSON.stringify(rest.toString('latin1').slice(0, 200))}`);
    const [first = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})( |$)/.exec(first)?.[1]);
    if (!status) throw new Error(`no status line: ${JSON.stringify(first.slice(0, 200))}`);
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(':');
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
    }
    const length = status === 100 ? 0 : Number(headers['content-length'] ?? rest.length - end - 4);
    const text = rest.subarray(end + 4, end + 4 + length).toString('utf8');
    rest = rest.subarray(end + 4 + length);
    answers.push({ status, headers, text, body: objectOf(text) });
  }
  return answers;
}

function objectOf(text: string): Record<string, Json> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
