import { get, type IncomingMessage } from 'node:http';
import { eventually } from '../../../dev/support/eventually.ts';

type ServerEvent = { readonly name: string; readonly data: string; readonly at: number };

/** What a page is told of a payment link. */
type View = { title: string; main: string; server_time: string; open: boolean };

/** A stream of server-sent events as a client reads it. */
export type EventStream = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything that came, byte by byte. */
  readonly text: () => string;
  readonly events: readonly ServerEvent[];
  readonly views: () => View[];
  /** The first view for which this holds; waits for it. */
  view(what: string, holds: (view: View) => boolean): Promise<View>;
  readonly isEnded: () => boolean;
  /** Leaves without a word, as a browser does whose tab is closed. */
  close(): void;
};

export type EventStreamOptions = {
  /** Our own address on the loopback net. */
  readonly from?: string;
  readonly headers?: Record<string, string>;
};

/** Opens a stream; resolves when the head of the answer is there, whatever its status is. */
export async function openEvents(url: string, options: EventStreamOptions = {}): Promise<EventStream> {
  const { from, headers } = options;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const settings = { agent: false, headers: headers ?? {}, ...(from ? { localAddress: from } : {}) };
    get(url, settings, resolve).on('error', reject);
  });
  let [received, rest, ended] = ['', '', false];
  const events: ServerEvent[] = [];
  response.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    rest += chunk;
    for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
      const lines = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      if (data !== undefined) events.push({ name: field('event') ?? 'message', data, at: performance.now() });
    }
  });
  response
    .on('error', () => undefined)
    .once('close', () => {
      ended = true;
    });
  const views = () =>
    events.filter(({ name }) => name === 'view').map(({ data }) => JSON.parse(data) as View);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: () => received,
    events,
    views,
    view: (what, holds) => eventually(what, () => views().find(holds)),
    isEnded: () => ended,
    close: () => void response.destroy(),
  };
}
