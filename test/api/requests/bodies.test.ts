import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { apiOf, call, troublesOf } from '../../support/gateway.ts';
import { parseAnswers } from '../../support/http/raw-http.ts';

const MIB = 1024 * 1024;

describe('bodies', function () {
  this.timeout(60_000);
  const api = apiOf();
  after(() => expect(troublesOf(api)).to.deep.equal([]));

  const post = (headers: string, rest: string) =>
    `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\nx-api-key: ${api.keys.test}\r\nContent-Type: application/json\r\n${headers}\r\n${rest}`;

  it('that are large and do not come to their end keep only a few of one merchant in memory, and nobody else from theirs', async () => {
    const sockets: Socket[] = [];
    const half = (length: number) => {
      const socket = connect({ port: Number(new URL(api.origin).port), host: '127.0.0.1' });
      sockets.push(socket.on('error', () => undefined));
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.write(post(`Content-Length: ${length}\r\n`, ' '.repeat(length - 1)));
      return () => parseAnswers(Buffer.concat(chunks));
    };
    const held = Array.from({ length: 40 }, () => half(MIB));
    const small = half(1_000);
    const whole = { external_id: 'whole', name: 'n', unknown: 'x'.repeat(100_000) };
    const makes = async (key: string) => (await call(`${api.url}/customers`, { key, body: whole })).status;
    expect(await makes((await api.newMerchant()).keys.test), 'another merchant').to.equal(201);
    expect(await makes(api.keys.live), 'the same merchant in live mode').to.equal(201);
    const answered = () => held.flatMap((answers) => answers());
    await eventually('the answers to those that have no place', () => answered().length === 36);
    const told = answered().map(({ status, body }) => `${status} ${body['code']}`);
    expect(new Set(told)).to.deep.equal(new Set(['429 RATE_LIMITED']));
    expect(small()).to.deep.equal([]);
    for (const socket of sockets) socket.destroy();
    await eventually('a place again', async () => (await makes(api.keys.test)) === 201);
  });
});
