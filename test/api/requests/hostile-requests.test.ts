import { expect } from 'chai';
import { type Answer, apiOf, call, UNKNOWN_ID } from '../../support/gateway.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };

describe('hostile requests', function () {
  this.timeout(90_000);
  const api = apiOf();
  after(() => expect(api.lines.filter(({ level }) => level === 'error')).to.deep.equal([]));

  const post = (body: string | Uint8Array, headers: Record<string, string> = JSON_TYPE): Promise<Answer> =>
    call(`${api.url}/customers`, { key: api.keys.test, method: 'POST', body, headers });
  const code = ({ status, body }: Answer) => `${status} ${body['code'] ?? ''}`.trim();

  it('that are not UTF-8 JSON are refused, whatever they are instead', async () => {
    const text = '{"external_id":"bytes"}';
    const bytes = (...parts: (string | number[])[]) =>
      Buffer.concat(
        parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
      );
    const wrong: Record<string, Uint8Array> = {
      'UTF-16 with a mark': bytes([0xff, 0xfe], [...Buffer.from(text, 'utf16le')]),
      'UTF-16 without a mark': Buffer.from(text, 'utf16le'),
      latin1: bytes('{"external_id":"', [0xe9], '"}'),
      'an overlong form': bytes('{"external_id":"', [0xc0, 0xaf], '"}'),
      'a surrogate in UTF-8': bytes('{"external_id":"', [0xed, 0xa0, 0x80], '"}'),
      'half a letter at the end': bytes('{"external_id":"x"}', [0xc3]),
      'a raw NUL': bytes('{"external_id":"', [0], '"}'),
      'two values': bytes(text, text),
      'a comment': bytes('{/* */"external_id":"x"}'),
      'a trailing comma': bytes('{"external_id":"x",}'),
      NaN: bytes('{"external_id":"x","metadata":{"a":NaN}}'),
      'white space of other kinds': bytes([0xc2, 0xa0], text),
    };
    for (const [name, body] of Object.entries(wrong))
      expect(code(await post(body)), name).to.equal('400 INVALID_JSON');
    expect((await call(`${api.url}/customers`, { key: api.keys.test })).body['data']).to.deep.equal([]);
    expect(
      code(await post(bytes([0xef, 0xbb, 0xbf], '{"external_id":"bom"}'))),
      'a byte order mark before UTF-8',
    ).to.equal('201');
  });

  it('say what is missing where there is no body at all, whatever their type', async () => {
    const missing = await call(`${api.url}/webhook-endpoints`, { key: api.keys.test, method: 'POST' });
    expect([missing.status, missing.body['details']]).to.deep.equal([
      400,
      [
        { path: 'url', message: 'is required' },
        { path: 'events', message: 'is required' },
      ],
    ]);
  });

  it('with members given twice, prototype keys, huge numbers and odd texts have one meaning or are refused', async () => {
    const twice = await post('{"external_id":"first","external_id":"last"}');
    expect([twice.status, twice.body['external_id']]).to.deep.equal([201, 'last']);
    const table: Readonly<Record<string, string>> = {
      '{"external_id":"n1","metadata":{"n":1e308}}': '201',
      '{"external_id":"n2","metadata":{"n":1e309}}': '400 VALIDATION_ERROR',
      '{"external_id":"n3","metadata":{"n":-1e999}}': '400 VALIDATION_ERROR',
      '{"external_id":12345678901234567890}': '400 VALIDATION_ERROR',
      '{"external_id":["a"]}': '400 VALIDATION_ERROR',
      '{"external_id":{"toString":"a"}}': '400 VALIDATION_ERROR',
      '{"external_id":true}': '400 VALIDATION_ERROR',
      '{"external_id":"\\u0000"}': '400 VALIDATION_ERROR',
      '{"external_id":"\\ud800x"}': '400 VALIDATION_ERROR',
      '{"external_id":"\\udc00\\ud800"}': '400 VALIDATION_ERROR',
      '{"\\ud800":1,"external_id":"x"}': '400 VALIDATION_ERROR',
      '{"external_id":"\\ud83d\\ude00"}': '201',
      '{"__proto__":{"external_id":"p"}}': '400 VALIDATION_ERROR',
      '{"constructor":{"prototype":{"external_id":"p"}}}': '400 VALIDATION_ERROR',
      '{"external_id":"p1","__proto__":null,"constructor":1,"hasOwnProperty":2,"toString":3,"valueOf":4,"then":5,"toJSON":6}':
        '201',
      '{"external_id":"p2","metadata":{"__proto__":{"a":1},"constructor":{"b":2},"toJSON":"x","then":"y"}}':
        '201',
      [`{"external_id":"${'x'.repeat(256)}"}`]: '400 VALIDATION_ERROR',
      [`{"external_id":"${'x'.repeat(255)}"}`]: '201',
      [`{"external_id":"d1","metadata":${'['.repeat(31)}${']'.repeat(31)}}`]: '400 VALIDATION_ERROR',
      [`${'['.repeat(30)}`]: '400 INVALID_JSON',
      // Too deep before anything parses it: that would take 200 ms, in which nobody else is answered.
      [`${'['.repeat(500_000)}`]: '400 VALIDATION_ERROR',
      [`{"a":${'['.repeat(500_000)}${']'.repeat(500_000)}}`]: '400 VALIDATION_ERROR',
      [`{"external_id":"${'[{,'.repeat(30_000)}\\"${'['.repeat(40)}"}`]: '400 VALIDATION_ERROR',
      [`{"metadata":{"a":"${'[{,'.repeat(40)}\\"${'['.repeat(40)}"},"external_id":"brackets in a text"}`]:
        '201',
      [`{"a":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_001)}`]: '400 VALIDATION_ERROR',
      // More than 20,000 values; a few less are taken.
      [`{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}`]: '400 VALIDATION_ERROR',
      [`{"external_id":"many","b":[${Array(19_000).fill('[]').join()}]}`]: '201',
      [`{"external_id":"x","b":[${Array(300_000).fill('[]').join()}]}`]: '400 VALIDATION_ERROR',
    };
    for (const [body, expected] of Object.entries(table))
      expect(code(await post(body)), body.slice(0, 100)).to.equal(expected);
    expect(({} as Record<string, unknown>)['external_id']).to.equal(undefined);
  });

  it('with other spellings of the media type are taken where they say UTF-8 JSON, and refused elsewhere', async () => {
    const good = ['APPLICATION/JSON', 'application/json; charset="UTF-8"', 'application/vnd.api+json'];
    const bad = ['text/json', 'application/jsonp', 'application/json, text/plain', '*/*', 'application/'];
    const charsets = ['utf-16', 'iso-8859-1'].map((charset) => `application/json; charset=${charset}`);
    for (const [index, type] of good.entries())
      expect(code(await post(`{"external_id":"t${index}"}`, { 'Content-Type': type })), type).to.equal('201');
    const refused = '415 UNSUPPORTED_MEDIA_TYPE';
    for (const type of [...bad, ...charsets])
      expect(code(await post('{"external_id":"t"}', { 'Content-Type': type })), type).to.equal(refused);
    for (const coding of ['gzip', 'x']) {
      const answer = await post('{"external_id":"t"}', { ...JSON_TYPE, 'Content-Encoding': coding });
      expect(code(answer), coding).to.equal(refused);
    }
  });

  it('with odd queries are refused where a known parameter is wrong, and never cut or rounded to something else', async () => {
    const get = async (path: string) => code(await call(api.url + path, { key: api.keys.test }));
    const bad = [
      ...['1e1', '%EF%BC%90', '0', '101', '-1', '+1', '1.0', '0x10', '', '%00', '1&limit=2'].map(
        (limit) => `limit=${limit}`,
      ),
      ...['0', '-1', '99999999999999999999', '1e3', '%D9%A1', '1&page=1', '1000001'].map(
        (page) => `page=${page}`,
      ),
      `page=1&starting_after=${UNKNOWN_ID}`,
      ...['x', '', 'x'.repeat(10_000), '%00', '%ff', UNKNOWN_ID].map((id) => `starting_after=${id}`),
      `ending_before=${UNKNOWN_ID}`,
      ...['yesterday', '2026-02-30T00:00:00Z', '2026-13-01', '0000-01-01T00:00:00Z'].map(
        (at) => `created_from=${at}`,
      ),
      ...'created_to=%00 created_to=2026-01-01 email=a&email=b email= email=%ed%a0%80'.split(' '),
      'external_id=%20',
      'search=',
      'search=%00',
      `search=${'x'.repeat(321)}`,
      'address=0x1',
      `address=${'1'.repeat(34)}`,
      '%00=1',
      'a=%',
      'a=%ff',
    ];
    for (const query of bad) expect(await get(`/customers?${query}`), query).to.equal('400 VALIDATION_ERROR');
    const good = [
      '',
      ...'a[]=1&a[]=2 limit%5B%5D=x __proto__=1 constructor[prototype][x]=1 limit=1&&&='.split(' '),
      'limit=100&page=1',
      'unknown=1&unknown=2',
      `x=${'y'.repeat(10_000)}`,
      Array.from({ length: 3_000 }, () => 'a=1').join('&'),
    ];
    for (const query of good) expect(await get(`/customers?${query}`), query.slice(0, 80)).to.equal('200');
  });
});
