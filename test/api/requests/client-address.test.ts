import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { type ClientAddress, createClientAddress } from '../../../src/api/access/client-address.ts';

/** A peer on the loopback net stands for whoever connects; 127.0.0.9 and 127.9.0.0/16 are our proxies. */
const PROXIES = ['127.0.0.9', '127.9.0.0/16', '10.0.0.0/8', 'fd00::/8'];
const PROXY = '127.0.0.9';
const STRANGER = '127.0.0.1';
const CLIENT = '203.0.113.7';

type Row = readonly [name: string, from: string, headers: readonly string[], is: string];

const forwarded = (value: string) => [`X-Forwarded-For: ${value}`];
/** What a proxy of ours forwards, and whom it stands for. */
const FORWARDED: Readonly<Record<string, string>> = {
  [CLIENT]: CLIENT,
  [`198.51.100.1, 10.0.0.5, ${CLIENT}`]: CLIENT,
  [`198.51.100.1, ${CLIENT}, 10.1.2.3, 127.9.0.1`]: CLIENT,
  '10.0.0.2, 10.0.0.1': '10.0.0.2',
  [`${CLIENT}:51234`]: CLIENT,
  '[2001:DB8::1]:443': '2001:db8::1',
  [`::ffff:${CLIENT}`]: CLIENT,
  [`${CLIENT}, ::ffff:10.0.0.1`]: CLIENT,
  [`${`${CLIENT}, `.repeat(400)}10.0.0.1`]: CLIENT,
};
/** Hops that are no address: nobody to the left of them is believed. */
const NO_HOPS = ['unknown', '', '01.2.3.4', '1.2.3.4:x', '[::1', '127.1', '2130706433', '1.2.3.4 5.6.7.8'];
const OTHER_HEADERS = ['X-Real-IP', 'Forwarded', 'CF-Connecting-IP'];

const forged: readonly Row[] = [
  ['no header', STRANGER, [], STRANGER],
  ['a stranger who claims an address', STRANGER, forwarded(CLIENT), STRANGER],
  ['a stranger who claims to be a proxy', STRANGER, forwarded('10.0.0.1'), STRANGER],
  ...OTHER_HEADERS.flatMap((header): Row[] => [
    [`${header} from a stranger`, STRANGER, [`${header}: ${CLIENT}`], STRANGER],
    [`${header} through a proxy`, PROXY, [`${header}: 198.51.100.1`, ...forwarded(CLIENT)], CLIENT],
    [`${header} through a proxy that appends nothing`, PROXY, [`${header}: ${CLIENT}`], PROXY],
  ]),
  ['a proxy inside a block', '127.9.3.4', forwarded(CLIENT), CLIENT],
  ['the neighbour of a block', '127.10.0.1', forwarded(CLIENT), '127.10.0.1'],
  ['a chain over several lines', PROXY, ['198.51.100.1', CLIENT, '10.1.2.3'].flatMap(forwarded), CLIENT],
  ...Object.entries(FORWARDED).map(([value, is]): Row => [value.slice(0, 60), PROXY, forwarded(value), is]),
  ...NO_HOPS.flatMap((hop): Row[] => [
    [`the hop ${JSON.stringify(hop)}`, PROXY, forwarded(`${CLIENT}, ${hop}`), PROXY],
    [`the hop ${JSON.stringify(hop)}, proxied`, PROXY, forwarded(`${CLIENT}, ${hop}, 10.0.0.1`), '10.0.0.1'],
  ]),
];

describe('the address of a client', () => {
  let server: Server;
  let read: ClientAddress = () => '';
  before(async () => {
    server = createServer((request, response) => response.end(read(request))).listen(0, '0.0.0.0');
    await once(server, 'listening');
  });
  after(() => new Promise((resolve) => server.close(resolve)));

  const ask = async (from: string, headers: readonly string[], host = '127.0.0.1'): Promise<string> => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host, localAddress: from });
    socket.write(Buffer.from([`GET / HTTP/1.0`, ...headers, '', ''].join('\r\n'), 'utf8'));
    let text = '';
    for await (const chunk of socket.setEncoding('latin1')) text += chunk;
    return text.slice(text.indexOf('\r\n\r\n') + 4);
  };

  it('is what a trusted peer appended, and otherwise the peer, whatever the headers claim', async () => {
    read = createClientAddress(PROXIES);
    for (const [name, from, headers, is] of forged) expect(await ask(from, headers), name).to.equal(is);
  });

  it('is always the peer where no proxy is trusted', async () => {
    read = createClientAddress([]);
    for (const [name, from, headers] of forged) expect(await ask(from, headers), name).to.equal(from);
  });

  it('takes blocks of IPv4-mapped addresses for the IPv4 blocks that they stand for', async () => {
    read = createClientAddress(['::ffff:127.0.0.9/128']);
    expect(await ask(PROXY, [`X-Forwarded-For: ${CLIENT}`])).to.equal(CLIENT);
  });
});

describe('a neighbour that passes addresses on', () => {
  it('and is not named as a proxy is told of once, a stranger never', () => {
    const told: string[] = [];
    const ask = (proxies: string[], remoteAddress: string, headers: object) =>
      createClientAddress(proxies, (peer) => told.push(peer))({
        socket: { remoteAddress },
        headers,
      } as unknown as IncomingMessage);
    ask([], PROXY, {});
    ask([], CLIENT, { 'x-forwarded-for': CLIENT });
    ask([PROXY], PROXY, { 'x-forwarded-for': CLIENT });
    expect(told).to.deep.equal([]);
    const unnamed = createClientAddress([], (peer) => told.push(peer));
    const request = { socket: { remoteAddress: PROXY }, headers: { 'x-forwarded-for': CLIENT } };
    for (let n = 0; n < 2; n += 1) expect(unnamed(request as unknown as IncomingMessage)).to.equal(PROXY);
    expect(told).to.deep.equal([PROXY]);
  });
});
