import { expect } from 'chai';
import { apiOf, troublesOf } from '../../support/gateway.ts';
import { expectRefusal, JSON_TYPE, LAST, wireOf } from '../../support/http/wire.ts';

const MIB = 1024 * 1024;
describe('bytes on the wire', function () {
  this.timeout(60_000);
  const api = apiOf();
  after(() => expect(troublesOf(api)).to.deep.equal([]));

  const { key, get, post, second, send, made, expectCutOff } = wireOf(() => api);

  it('that frame a body in two ways, or in none that all agree on, are refused and end the connection', async () => {
    const chunks = (headers: string) => post(headers, `0\r\n\r\n${second()}`);
    await expectCutOff(
      {
        'length and chunks': chunks('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
        'a space before the colon': chunks('Transfer-Encoding : chunked\r\n'),
        'chunks of gzip': chunks('Transfer-Encoding: gzip, chunked\r\n'),
        'a folded line': chunks('Transfer-Encoding:\r\n chunked\r\n'),
        'two lengths': post(`Content-Length: 0\r\nContent-Length: ${second().length}\r\n`, second()),
        'a length with a sign': post('Content-Length: +2\r\n', `{}${second()}`),
      },
      400,
    );
  });

  it('of chunks that are malformed, too large or end in bare line feeds are refused and end the connection', async () => {
    const chunked = (rest: string) => post('Transfer-Encoding: chunked\r\n', rest + second());
    await expectCutOff(
      {
        'a negative size': chunked('-2\r\n{}\r\n0\r\n\r\n'),
        'a size beyond 64 bits': chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'),
        'no line end after a chunk': chunked('2\r\n{}0\r\n\r\n'),
        'line feeds': chunked('2\n{}\n0\n\n'),
      },
      400,
    );
  });

  it('of plain chunks are read, with their extensions and trailers ignored, and what follows is the next request', async () => {
    const chunks = `5;a=b\r\n{"ext\r\nf\r\nernal_id":"c0"}\r\n0\r\nx-api-key: other\r\n\r\n`;
    const [made, read] = await send(
      post('Transfer-Encoding: chunked\r\n', chunks) + get('/api/v1/deposits', LAST),
    );
    expect([made?.status, made?.body['external_id'], read?.status]).to.deep.equal([201, 'c0', 200]);
  });

  it('after a refused body are never taken for a request', async () => {
    const long = `Content-Length: ${MIB + 1}\r\n`;
    await expectCutOff(
      {
        'a whole body that is too large': post(long, `${'x'.repeat(MIB + 1)}${second()}`),
        'a body that has not come yet': post(long, second()),
        'chunks that are too large': post(
          'Transfer-Encoding: chunked\r\n',
          `100001\r\n${'x'.repeat(MIB + 1)}\r\n0\r\n\r\n${second()}`,
        ),
        'an expectation that is not met': post(`Expect: 100-continue\r\n${long}`, second()),
      },
      413,
    );
    const stranger = `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Content-Length: 2000000\r\n\r\n`;
    await expectCutOff({ 'no key': stranger + second() }, 401);
  });

  it('of a body on a GET are a body, not a request', async () => {
    const head = `Content-Length: ${second().length}\r\n${LAST}`;
    const answers = await send(get('/api/v1/deposits', head) + second());
    expect([answers.map(({ status }) => status), await made()]).to.deep.equal([[200], 0]);
  });

  it('of several requests at once are answered in order, and a good one before the garbage behind it', async () => {
    const answers = await send(
      `${get('/api/v1/deposits')}${get('/api/v1/none')}${get('/api/v1/customers')}\x00garbage\r\n\r\n`,
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 404, 200, 400]);
    expectRefusal(answers[3], 400, 'garbage');
  });

  it('that are no HTTP/1.1, or a version that is not ours, are refused in the form of every error', async () => {
    await expectCutOff(
      {
        garbage: '\x00\x01\x02\r\n\r\n',
        'HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'bare line feeds': `GET /api/v1/customers HTTP/1.1\n${key().replaceAll('\r', '')}\n`,
        'one bare line feed': get('/api/v1/customers', 'X-A: b\nX-B: c\r\n'),
        'a NUL': get('/api/v1/customers', 'X-A: a\x00b\r\n'),
        'no host': `GET /api/v1/customers HTTP/1.1\r\nx-api-key: ${api.keys.test}\r\n\r\n`,
        'two hosts': get('/api/v1/customers', 'Host: y\r\n'),
      },
      400,
    );
    await expectCutOff({ 'HTTP/2.0': get('/api/v1/customers', '', 'HTTP/2.0') }, 505);
    await expectCutOff({ host: 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n' }, 405);
    await expectCutOff({ 'an expectation': post('Expect: tea\r\nContent-Length: 2\r\n', '{}') }, 417);
    await expectCutOff(
      {
        'a long header': get('/x', `X-A: ${'x'.repeat(17_000)}\r\n`),
        'many headers': get('/x', 'x: 1\r\n'.repeat(150)),
      },
      431,
    );
  });

  it('of targets in other spellings reach a route only as that route is written', async () => {
    const targets: Record<string, number> = {
      '/api/v1/deposits': 200,
      'http://x/api/v1/deposits': 200,
      '//api/v1/deposits': 404,
      '/api/v1/x/../deposits': 404,
      '/api/v1/x/%2e%2e/deposits': 404,
      '/api/v1%2fdeposits': 404,
      '/api/v1/deposits/%2e%2e%2fcustomers': 404,
      '/API/V1/DEPOSITS': 404,
      'http://[::1aaa/': 400,
      'ftp://x/': 400,
      '?x=1': 400,
    };
    for (const [target, status] of Object.entries(targets)) {
      const [answer] = await send(get(target, 'Connection: close\r\n'));
      expect(answer?.status, `${target} ${answer?.text}`).to.equal(status);
      if (status !== 200) expectRefusal(answer, status, target);
    }
  });
});
