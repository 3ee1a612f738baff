// A real WebSocket server that announces blocks as an
// endpoint does, or whatever a test wants it to send instead.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const SUBSCRIPTION = '0x9c';

export type Question = { readonly id: number; readonly method: string; readonly params: readonly unknown[] };
export type Peer = {
  readonly socket: Socket;
  send(json: unknown): void;
  text(text: string): void;
  /** Sends an announcement as nodes send it. */
  head(number: number, subscription?: string): void;
};

export type HeadServer = {
  /** ws://…, with an API key in its path. */
  readonly url: string;
  /** How many connections there were, and how many are open. */
  readonly seen: { connections: number; open: number };
  readonly questions: readonly Question[];
  /** The connections that have subscribed. */
  readonly peers: ReadonlySet<Peer>;
  /** Decides about one request; undefined or false means the answer of an honest endpoint. */
  answer: ((question: Question, peer: Peer) => boolean | undefined) | undefined;
  /** False refuses the handshake with a 403. */
  accepts: boolean;
  announce(number: number): void;
  stop(): Promise<void>;
};

/** One unmasked frame, final unless told otherwise. */
export function frame(payload: Buffer, opcode = 0x81): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([opcode, length]), payload]);
  const head = Buffer.alloc(length < 65_536 ? 4 : 10);
  head[0] = opcode;
  head[1] = length < 65_536 ? 126 : 127;
  if (length < 65_536) head.writeUInt16BE(length, 2);
  else head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startHeadServer(): Promise<HeadServer> {
  const server = createServer((_, response) => response.writeHead(404).end());
  const sockets = new Set<Socket>();
  const peers = new Set<Peer>();
  const questions: Question[] = [];
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const heads: HeadServer = {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v3/secret-api-key`,
    seen: { connections: 0, open: 0 },
    questions,
    peers,
    answer: undefined,
    accepts: true,
    announce: (number) => {
      for (const peer of peers) peer.head(number);
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    socket.on('error', () => undefined);
    socket.once('end', () => socket.end());
    if (!heads.accepts) return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${MAGIC}`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const peer = peerOf(socket);
    heads.seen.connections += 1;
    heads.seen.open += 1;
    sockets.add(socket);
    socket.once('close', () => {
      heads.seen.open -= 1;
      sockets.delete(socket);
      peers.delete(peer);
    });
    readTexts(socket, (text) => {
      const question = JSON.parse(text) as Question;
      questions.push(question);
      if (!heads.answer?.(question, peer)) answerHonestly(question, peer);
    });
  });

  function answerHonestly({ id, method }: Question, peer: Peer): void {
    peer.send({ jsonrpc: '2.0', id, result: method === 'eth_chainId' ? '0x38' : SUBSCRIPTION });
    if (method === 'eth_subscribe') peers.add(peer);
  }

  return heads;
}

function peerOf(socket: Socket): Peer {
  const text = (one: string): void => {
    if (socket.writable) socket.write(frame(Buffer.from(one)));
  };
  const send = (json: unknown): void => text(JSON.stringify(json));
  return {
    socket,
    send,
    text,
    head: (number, subscription = SUBSCRIPTION) =>
      send({
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: {
          subscription,
          result: {
            number: `0x${number.toString(16)}`,
            hash: `0x${'ab'.repeat(32)}`,
            logsBloom: `0x${'0'.repeat(512)}`,
          },
        },
      }),
  };
}

/** What a client sends: masked frames, of which only short texts and the close matter here. */
function readTexts(socket: Socket, onText: (text: string) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const length = (rest[1] ?? 0) & 0x7f;
      if (rest.length < 6 + length) return;
      const mask = rest.subarray(2, 6);
      const payload = Buffer.from(rest.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
      const opcode = (rest[0] ?? 0) & 0x0f;
      rest = rest.subarray(6 + length);
      if (opcode === 1) onText(payload.toString());
      if (opcode === 8) socket.end();
    }
  });
}
