import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { type ClientAddress, createClientAddress, siteOf } from '../../../src/api/access/client-address.ts';

/** A peer on the loopback net stands for whoever connects; 127.0.0.9 and 127.9.0.0/16 are our proxies. */
const PROXIES = ['127.0.0.9', '127.9.0.0/16', '10.0.0.0/8', 'fd00::/8'];
const PROXY = '127.0.0.9';
const STRANGER = '127.0.0.1';
const CLIENT = '203.0.113.7';

type Row = {
  readonly name: string;
  readonly from: string;
  readonly headers: readonly string[];
  readonly is: string;
};

const forged: readonly Row[] = [
  { name: 'no header', from: STRANGER, headers: [], is: STRANGER },
  {
    name: 'a stranger who claims an address',
    from: STRANGER,
    headers: [`X-Forwarded-For: ${CLIENT}`],
    is: STRANGER,
  },
  {
    name: 'a stranger who claims to be a proxy',
    from: STRANGER,
    headers: ['X-Forwarded-For: 10.0.0.1'],
    is: STRANGER,
  },
  ...[
    'X-Real-IP',
    'Forwarded',
    'CF-Connecting-IP',
    'True-Client-IP',
    'X-Client-IP',
    'X-Cluster-Client-IP',
    'Fastly-Client-IP',
    'X-Forwarded',
    'X-Forwarded-Host',
    'Via',
  ].flatMap((header) => [
    { name: `${header} from a stranger`, from: STRANGER, headers: [`${header}: ${CLIENT}`], is: STRANGER },
    {
      name: `${header} through a proxy`,
      from: PROXY,
      headers: [`${header}: 198.51.100.1`, `X-Forwarded-For: ${CLIENT}`],
      is: CLIENT,
    },
    {
      name: `${header} through a proxy that appends nothing`,
      from: PROXY,
      headers: [`${header}: ${CLIENT}`],
      is: PROXY,
    },
  ]),
  {
    name: 'Forwarded in full form',
    from: PROXY,
    headers: [`Forwarded: for=${CLIENT};proto=https`],
    is: PROXY,
  },
  { name: 'what the proxy appended', from: PROXY, headers: [`X-Forwarded-For: ${CLIENT}`], is: CLIENT },
  { name: 'a proxy inside a block', from: '127.9.3.4', headers: [`X-Forwarded-For: ${CLIENT}`], is: CLIENT },
  {
    name: 'the neighbour of a block',
    from: '127.10.0.1',
    headers: [`X-Forwarded-For: ${CLIENT}`],
    is: '127.10.0.1',
  },
  {
    name: 'forged hops left of the client',
    from: PROXY,
    headers: [`X-Forwarded-For: 198.51.100.1, 10.0.0.5, ${CLIENT}`],
    is: CLIENT,
  },
  {
    name: 'a chain of our proxies',
    from: PROXY,
    headers: [`X-Forwarded-For: 198.51.100.1, ${CLIENT}, 10.1.2.3, 127.9.0.1`],
    is: CLIENT,
  },
  {
    name: 'a chain over several lines',
    from: PROXY,
    headers: ['X-Forwarded-For: 198.51.100.1', `X-Forwarded-For: ${CLIENT}`, 'x-forwarded-for: 10.1.2.3'],
    is: CLIENT,
  },
  { name: 'only proxies', from: PROXY, headers: ['X-Forwarded-For: 10.0.0.2, 10.0.0.1'], is: '10.0.0.2' },
  {
    name: 'white space and empty hops on the left',
    from: PROXY,
    headers: [`X-Forwarded-For: , ,\t ${CLIENT} `],
    is: CLIENT,
  },
  { name: 'a port behind IPv4', from: PROXY, headers: [`X-Forwarded-For: ${CLIENT}:51234`], is: CLIENT },
  {
    name: 'a port behind IPv6',
    from: PROXY,
    headers: ['X-Forwarded-For: [2001:DB8::1]:443'],
    is: '2001:db8::1',
  },
  {
    name: 'brackets without a port',
    from: PROXY,
    headers: ['X-Forwarded-For: [2001:db8::1]'],
    is: '2001:db8::1',
  },
  {
    name: 'IPv6 in another spelling',
    from: PROXY,
    headers: ['X-Forwarded-For: 2001:0DB8:0:0:0:0:0:1'],
    is: '2001:db8::1',
  },
  { name: 'an IPv4-mapped client', from: PROXY, headers: [`X-Forwarded-For: ::ffff:${CLIENT}`], is: CLIENT },
  {
    name: 'an IPv4-mapped client in hex',
    from: PROXY,
    headers: ['X-Forwarded-For: ::FFFF:cb00:7107'],
    is: CLIENT,
  },
  {
    name: 'an IPv4-mapped proxy',
    from: PROXY,
    headers: [`X-Forwarded-For: ${CLIENT}, ::ffff:10.0.0.1`],
    is: CLIENT,
  },
  { name: 'an IPv6 proxy', from: PROXY, headers: [`X-Forwarded-For: ${CLIENT}, fd12::1`], is: CLIENT },
  ...[
    'unknown',
    '_hidden',
    '',
    '1.2.3',
    '01.2.3.4',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1.2.3.4:x',
    '1.2.3.4:123456',
    '[1.2.3.4]:80',
    '[::1',
    '::1]',
    '::1%eth0',
    'localhost',
    '0x7f000001',
    '2130706433',
    '127.1',
    '"1.2.3.4"',
    'for=1.2.3.4',
    '1.2.3.4 5.6.7.8',
    '１.2.3.4',
  ].flatMap((hop) => [
    {
      name: `the hop ${JSON.stringify(hop)}`,
      from: PROXY,
      headers: [`X-Forwarded-For: ${CLIENT}, ${hop}`],
      is: PROXY,
    },
    {
      name: `the hop ${JSON.stringify(hop)} behind a second proxy`,
      from: PROXY,
      headers: [`X-Forwarded-For: ${CLIENT}, ${hop}, 10.0.0.1`],
      is: '10.0.0.1',
    },
  ]),
  {
    name: 'very many hops',
    from: PROXY,
    headers: [`X-Forwarded-For: ${`${CLIENT}, `.repeat(400)}10.0.0.1`],
    is: CLIENT,
  },
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
    for (const { name, from, headers, is } of forged) expect(await ask(from, headers), name).to.equal(is);
  });

  it('is always the peer where no proxy is trusted', async () => {
    read = createClientAddress([]);
    for (const { name, from, headers } of forged) expect(await ask(from, headers), name).to.equal(from);
  });

  it('takes blocks of IPv4-mapped addresses for the IPv4 blocks that they stand for', async () => {
    read = createClientAddress(['::ffff:127.0.0.9/128']);
    expect(await ask(PROXY, [`X-Forwarded-For: ${CLIENT}`])).to.equal(CLIENT);
  });

  it('is nobody once the connection is gone', () => {
    expect(
      createClientAddress(['0.0.0.0/0'])({ socket: {}, headers: { 'x-forwarded-for': CLIENT } } as never),
    ).to.equal('');
  });

  it('counts as one with its /64 in IPv6, and alone in IPv4', () => {
    expect(siteOf('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(siteOf('2001:db8:1:2:ffff::1')).to.equal(siteOf('2001:db8:1:2::'));
    expect(siteOf('2001:db8:1:3::')).not.to.equal(siteOf('2001:db8:1:2::'));
    expect(siteOf(CLIENT)).to.equal(CLIENT);
    expect(siteOf('')).to.equal('');
  });
});
