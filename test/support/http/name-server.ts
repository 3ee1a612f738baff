import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** The addresses of a name by family, or undefined for a name that does not exist. */
export type Answers = { readonly a?: readonly string[]; readonly aaaa?: readonly string[] };
/** What the server says to question number `nth` (from 0) for a name and family. */
export type Zone = (name: string, family: 'a' | 'aaaa', nth: number) => Answers | undefined;

export type NameServer = {
  /** `127.0.0.1:port`, over UDP and TCP. */
  readonly address: string;
  /** Every question in order: the name, the family and how it came. */
  readonly asked: readonly {
    readonly name: string;
    readonly family: 'a' | 'aaaa';
    readonly over: 'udp' | 'tcp';
  }[];
  stop(): Promise<void>;
};

/**
 * Answers of a UDP datagram beyond this number are left out, and the client is told to ask again over TCP.
 */
const MAX_UDP_ANSWERS = 12;
const PORT_TRIES = 10;
const FAMILY: Readonly<Record<number, 'a' | 'aaaa'>> = { 1: 'a', 28: 'aaaa' };

/** A real name server on 127.0.0.1 whose answers live for 0 seconds. It is silent without a zone. */
export async function startNameServer(zone: Zone | undefined): Promise<NameServer> {
  const asked: NameServer['asked'][number][] = [];
  const counts = new Map<string, number>();
  const reply = (query: Buffer, over: 'udp' | 'tcp'): Buffer | undefined => {
    const { name, type, end } = readQuestion(query);
    const family = FAMILY[type];
    if (!family) return answer(query, end, { found: true, truncated: false, records: [] });
    asked.push({ name, family, over });
    if (!zone) return undefined;
    const key = `${family} ${name}`;
    const nth = counts.get(key) ?? 0;
    const found = zone(name, family, nth);
    const records = found?.[family] ?? [];
    const truncated = over === 'udp' && records.length > MAX_UDP_ANSWERS;
    // When it comes again over TCP it counts as the same question.
    if (!truncated) counts.set(key, nth + 1);
    return answer(query, end, {
      found: found !== undefined,
      truncated,
      records: truncated ? [] : records.map(addressBytes),
    });
  };
  const tcpSockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    tcpSockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const message = reply(chunk.subarray(2), 'tcp');
      if (!message) return;
      const size = Buffer.alloc(2);
      size.writeUInt16BE(message.length);
      socket.write(Buffer.concat([size, message]));
    });
  });
  const udp = await bindBoth(tcp);
  udp.on('message', (query, peer) => {
    const message = reply(query, 'udp');
    if (message) udp.send(message, peer.port, peer.address);
  });
  const stop = async (): Promise<void> => {
    udp.close();
    for (const socket of tcpSockets) socket.destroy();
    await new Promise((resolve) => tcp.close(resolve));
  };
  return { address: `127.0.0.1:${udp.address().port}`, asked, stop };
}

/** One port that is free for both protocols; another program may hold the UDP half of the first one tried. */
async function bindBoth(tcp: Server): Promise<UdpSocket> {
  for (let tries = 1; ; tries += 1) {
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const udp = createSocket('udp4');
    try {
      await new Promise<void>((resolve, reject) => {
        udp.once('error', reject);
        udp.bind((tcp.address() as AddressInfo).port, '127.0.0.1', resolve);
      });
      return udp;
    } catch (error) {
      await new Promise((resolve) => tcp.close(resolve));
      if (tries >= PORT_TRIES) throw error;
    }
  }
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let size = query[at] ?? 0; size > 0; size = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + size));
    at += size + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answer(
  query: Buffer,
  end: number,
  input: { found: boolean; truncated: boolean; records: readonly Buffer[] },
): Buffer {
  const { found, truncated, records } = input;
  const head = Buffer.from([
    query[0] ?? 0,
    query[1] ?? 0,
    truncated ? 0x83 : 0x81,
    found ? 0x80 : 0x83,
    0,
    1,
    0,
    records.length,
    0,
    0,
    0,
    0,
  ]);
  const bodies = records.map((data) =>
    Buffer.concat([
      Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]),
      data,
    ]),
  );
  return Buffer.concat([head, query.subarray(12, end), ...bodies]);
}

function addressBytes(text: string): Buffer {
  if (!text.includes(':')) return Buffer.from(text.split('.').map((part) => Number(part)));
  // A dotted tail is two groups.
  const plain = text.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...parts: string[]) => {
    const bytes = Buffer.from(parts.slice(0, 4).map((part) => Number(part)));
    return `${bytes.toString('hex', 0, 2)}:${bytes.toString('hex', 2, 4)}`;
  });
  const [head = [], tail = []] = plain
    .split('::')
    .map((side) => side.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
