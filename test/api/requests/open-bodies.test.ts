import { expect } from 'chai';
import { apiOf } from '../../support/gateway.ts';
import { exchange } from '../../support/http/raw-http.ts';
import { newUser, postLogin } from '../../support/sign-in.ts';

const MAX = 8 * 1024;
const JSON_TYPE = 'Content-Type: application/json\r\n';

describe('bodies that anybody may send', () => {
  const api = apiOf({
    limits: { requestsPerSecond: 0.001, requestsBurst: 30 },
    trustedProxies: ['127.0.0.1'],
  });

  const raw = async (path: string, headers: string, body: string, from: string) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: ${from}\r\n`;
    return (await exchange(api.origin, `${head}${headers}\r\n${body}`))[0]?.status;
  };

  it('have at most 8 KiB, by length and in chunks', async () => {
    const body = (size: number) =>
      JSON.stringify({ email: 'a@example.com', password: 'x', pad: 'x'.repeat(size - 51) }).padEnd(size);
    const chunked = (size: number) => `${size.toString(16)}\r\n${body(size)}\r\n0\r\n\r\n`;
    expect(body(MAX)).to.have.length(MAX);
    const send = (size: number) =>
      raw('/login', `${JSON_TYPE}Content-Length: ${size}\r\n`, body(size), '192.0.2.1');
    const sendChunks = (size: number) =>
      raw('/login', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`, chunked(size), '192.0.2.1');
    expect(await send(MAX)).to.equal(401);
    expect(await send(MAX + 1)).to.equal(413);
    expect(await sendChunks(MAX)).to.equal(401);
    expect(await sendChunks(MAX + 1)).to.equal(413);
  });

  it('of logins are counted for the site before they are read', async () => {
    const statuses: (number | undefined)[] = [];
    // A body that is read is a 400, and tells no more.
    for (let turn = 0; turn < 40; turn += 1)
      statuses.push(await raw('/login', `${JSON_TYPE}Content-Length: 5\r\n`, '{"a"}', '192.0.2.2'));
    expect(new Set(statuses.slice(0, 30))).to.deep.equal(new Set([400]));
    expect(new Set(statuses.slice(31))).to.deep.equal(new Set([429]));
    const user = await newUser(api);
    expect((await postLogin(api, user, { from: '192.0.2.3' })).status, 'from another site').to.equal(200);
  });
});
