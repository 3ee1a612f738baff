import { expect } from 'chai';
import { apiOf, troublesOf } from '../../support/gateway.ts';
import { parseAnswers, talk } from '../../support/http/raw-http.ts';
import { expectRefusal, JSON_TYPE, LAST, wireOf } from '../../support/http/wire.ts';

const MIB = 1024 * 1024;
describe('bytes on the wire', function () {
  this.timeout(60_000);
  const api = apiOf();
  after(() => expect(troublesOf(api)).to.deep.equal([]));

  const { key, get, post, second, send, made, expectCutOff } = wireOf(() => api);

  it('that frame a body in two ways, or in none that all agree on, are refused and end the connection', async () => {
    const chunks = (headers: string) => post(headers, `0\r\n\r\n${second()}`);
    const lengths = (value: string) => post(`Content-Length:${value}\r\n`, `{}${second()}`);
    await expectCutOff(
      {
        'length and chunks': chunks('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'),
        'chunks and length': chunks('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n'),
        'a space before the colon': chunks('Transfer-Encoding : chunked\r\n'),
        'chunks of gzip': chunks('Transfer-Encoding: gzip, chunked\r\n'),
        identity: post('Transfer-Encoding: identity\r\n', `{}${second()}`),
        'two codings': chunks('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n'),
        'a folded line': chunks('Transfer-Encoding:\r\n chunked\r\n'),
        'a vertical tab': chunks('Transfer-Encoding: \x0bchunked\r\n'),
        quotes: chunks('Transfer-Encoding: "chunked"\r\n'),
        'two lengths': post(`Content-Length: 0\r\nContent-Length: ${second().length}\r\n`, second()),
        'two equal lengths': post('Content-Length: 2\r\nContent-Length: 2\r\n', `{}${second()}`),
        ...Object.fromEntries(
          [' 2, 2', ' +2', ' -1', ' 0x2', ' ', ' 99999999999999999999999', ' ２'].map((value) => [
            `length ${value}`,
            lengths(value),
          ]),
        ),
      },
      400,
    );
  });

  it('of chunks that are malformed, too large or end in bare line feeds are refused and end the connection', async () => {
    const chunked = (rest: string) => post('Transfer-Encoding: chunked\r\n', rest + second());
    await expectCutOff(
      {
        'a negative size': chunked('-2\r\n{}\r\n0\r\n\r\n'),
        'a prefixed size': chunked('0x2\r\n{}\r\n0\r\n\r\n'),
        'a size beyond 64 bits': chunked('10000000000000002\r\n{}\r\n0\r\n\r\n'),
        'no line end after a chunk': chunked('2\r\n{}0\r\n\r\n'),
        'line feeds': chunked('2\n{}\n0\n\n'),
        'a very long extension': chunked(`2;${'a'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`),
      },
      400,
    );
  });

  it('of plain chunks are read, with their extensions and trailers ignored, and what follows is the next request', async () => {
    for (const [index, coding] of [' chunked', '\tchunked', ' CHUNKED'].entries()) {
      const chunks = `5;a=b\r\n{"ext\r\nf\r\nernal_id":"c${index}"}\r\n0\r\nx-api-key: other\r\n\r\n`;
      const head = `Transfer-Encoding:${coding}\r\n`;
      const [made, read] = await send(post(head, chunks) + get('/api/v1/deposits', LAST));
      const told = [made?.status, made?.body['external_id'], read?.status];
      expect(told, coding).to.deep.equal([201, `c${index}`, 200]);
    }
  });

  it('after a refused body are never taken for a request', async () => {
    const long = `Content-Length: ${MIB + 1}\r\n`;
    await expectCutOff(
      {
        'a whole body that is too large': post(long, `${'x'.repeat(MIB + 1)}${second()}`),
        'a body that has not come yet': post(long, second()),
        'a length beyond 32 bits': post('Content-Length: 4294967298\r\n', `{}${second()}`),
        'a length beyond exact numbers': post('Content-Length: 9007199254740993\r\n', `{}${second()}`),
        'chunks that are too large': post(
          'Transfer-Encoding: chunked\r\n',
          `100001\r\n${'x'.repeat(MIB + 1)}\r\n0\r\n\r\n${second()}`,
        ),
        'an expectation that is not met': post(`Expect: 100-continue\r\n${long}`, second()),
      },
      413,
    );
    const to = (path: string, headers: string) =>
      `POST /api/v1/${path} HTTP/1.1\r\n${headers}Content-Length: 2000000\r\n\r\n${second()}`;
    await expectCutOff({ 'no key': to('customers', `Host: x\r\n${JSON_TYPE}`) }, 401);
    await expectCutOff({ 'an unknown route': to('none', key()) }, 404);
    const untyped = `POST /api/v1/customers HTTP/1.1\r\n${key()}Content-Length: 2000\r\n\r\n${second()}`;
    await expectCutOff({ 'no type': untyped }, 415);
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
        'a bare carriage return': get('/api/v1/customers', 'X-A: b\rX-B: c\r\n'),
        'a NUL': get('/api/v1/customers', 'X-A: a\x00b\r\n'),
        'a space before the first header': `GET /api/v1/customers HTTP/1.1\r\n X: y\r\n${key()}\r\n`,
        'a method that is none': get('/x').replace('GET', 'FOO'),
        'a space in the target': get('/api/v1/customers x'),
        'HTTP/1.2': get('/api/v1/customers', '', 'HTTP/1.2'),
        'no host': `GET /api/v1/customers HTTP/1.1\r\nx-api-key: ${api.keys.test}\r\n\r\n`,
        'two hosts': get('/api/v1/customers', 'Host: y\r\n'),
        'a fragment': get('/api/v1/customers#x'),
        'a backslash': get('\\api\\v1\\customers'),
        'a relative target': get('api/v1/customers'),
        'raw UTF-8': get('/api/v1/customers/\xc3\xa9'),
      },
      400,
    );
    await expectCutOff(
      { 'HTTP/0.9': 'GET /api/v1/customers\r\n\r\n', 'HTTP/2.0': get('/api/v1/customers', '', 'HTTP/2.0') },
      505,
    );
    await expectCutOff(
      { host: 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', path: get('/x').replace('GET', 'CONNECT') },
      405,
    );
    await expectCutOff({ 'an expectation': post('Expect: tea\r\nContent-Length: 2\r\n', '{}') }, 417);
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => `x-h${index}: 1\r\n`).join('');
    await expectCutOff(
      {
        'a long header': get('/x', `X-A: ${'x'.repeat(17_000)}\r\n`),
        'a long target': get(`/api/v1/customers?x=${'x'.repeat(17_000)}`),
        'many headers': get('/x', many(150)),
        'many small ones that are long together': get('/x', `${'x: 1\r\n'.repeat(3_000)}`),
      },
      431,
    );
    expect(
      (await send(get('/api/v1/deposits', `X-A: ${'x'.repeat(15_000)}\r\n${LAST}`)))[0]?.status,
    ).to.equal(200);
    expect((await send(get('/api/v1/deposits', many(90) + LAST)))[0]?.status).to.equal(200);
  });

  it('of targets in other spellings reach a route only as that route is written', async () => {
    const targets: Record<string, number> = {
      '/api/v1/deposits': 200,
      'http://x/api/v1/deposits': 200,
      'HTTPS://other.example:8443/api/v1/deposits?limit=1': 200,
      'http://[::1]:80/api/v1/deposits': 200,
      '//api/v1/deposits': 404,
      '//other.example/api/v1/deposits': 404,
      '/api//v1/deposits': 404,
      '/api/v1/x/../deposits': 404,
      '/api/v1/x/%2e%2e/deposits': 404,
      '/api/v1%2fdeposits': 404,
      '/api/v1/deposits%00': 404,
      '/api/v1/deposits/a%2fb': 404,
      '/api/v1/deposits/%2e%2e%2fcustomers': 404,
      '/api/v1/%ZZ': 404,
      '/api/v1/%64eposits': 404,
      '/API/V1/DEPOSITS': 404,
      '*': 404,
    };
    const none = [
      'http://[::1aaa/',
      'http://a]/',
      'http://%zz/',
      'http:///x',
      'http://a:b@c:99999/',
      'ftp://x/',
      '**',
    ];
    for (const target of [...none, 'a:b', 'javascript:alert(1)', '?x=1', `a${':'.repeat(15_000)}`])
      targets[target] = 400;
    for (const [target, status] of Object.entries(targets)) {
      const [answer] = await send(get(target, 'Connection: close\r\n'));
      expect(answer?.status, `${target} ${answer?.text}`).to.equal(status);
      if (status !== 200) expectRefusal(answer, status, target);
    }
  });

  it('of other methods, upgrades and old versions get a plain answer', async () => {
    const method = async (name: string, target = '/api/v1/deposits') =>
      (await send(get(target, 'Connection: close\r\n').replace('GET', name)))[0];
    for (const name of ['TRACE', 'PATCH', 'M-SEARCH']) expectRefusal(await method(name), 405, name);
    expectRefusal(await method('OPTIONS', '*'), 404, 'OPTIONS *');
    for (const upgrade of ['Upgrade, close\r\nUpgrade: websocket', 'Upgrade, close\r\nUpgrade: h2c'])
      expect((await send(get('/api/v1/deposits', `Connection: ${upgrade}\r\n`)))[0]?.status).to.equal(200);
    const { received, closed } = await talk(
      api.origin,
      `GET /api/v1/deposits HTTP/1.0\r\nx-api-key: ${api.keys.test}\r\n\r\n`,
    );
    expect([parseAnswers(received)[0]?.status, closed]).to.deep.equal([200, true]);
    expectRefusal(
      (
        await send(
          post(`Transfer-Encoding: chunked\r\n${LAST}`, '2\r\n{}\r\n0\r\n\r\n').replace(
            'HTTP/1.1',
            'HTTP/1.0',
          ),
        )
      )[0],
      400,
      'chunks in HTTP/1.0',
    );
  });

  it('that wait for "100 Continue" get it when the body is wanted', async () => {
    const head = post(`Expect: 100-continue\r\nContent-Length: 23\r\nConnection: close\r\n`, '');
    const answers = await send(head, {
      drip: { chunks: ['{"external_id":"expect"}'.slice(0, 23)], everyMs: 100 },
    });
    expect(answers.map(({ status }) => status)).to.deep.equal([100, 400]);
    const [refused] = await send(
      `POST /api/v1/customers HTTP/1.1\r\nHost: x\r\n${JSON_TYPE}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`,
    );
    expect(refused?.status, 'without a key').to.equal(401);
  });
});
