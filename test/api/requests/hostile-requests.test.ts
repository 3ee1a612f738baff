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
      latin1: bytes('{"external_id":"', [0xe9], '"}'),
      'an overlong form': bytes('{"external_id":"', [0xc0, 0xaf], '"}'),
      'a raw NUL': bytes('{"external_id":"', [0], '"}'),
      'two values': bytes(text, text),
    };
    for (const [name, body] of Object.entries(wrong))
      expect(code(await post(body)), name).to.equal('400 INVALID_JSON');
    expect((await call(`${api.url}/customers`, { key: api.keys.test })).body['data']).to.deep.equal([]);
  });

  it('with members given twice, prototype keys, huge numbers and odd texts have one meaning or are refused', async () => {
    const twice = await post('{"external_id":"first","external_id":"last"}');
    expect([twice.status, twice.body['external_id']]).to.deep.equal([201, 'last']);
    const table: Readonly<Record<string, string>> = {
      '{"external_id":"n1","metadata":{"n":1e308}}': '201',
      '{"external_id":"n2","metadata":{"n":1e309}}': '400 VALIDATION_ERROR',
      '{"external_id":12345678901234567890}': '400 VALIDATION_ERROR',
      '{"external_id":"\\u0000"}': '400 VALIDATION_ERROR',
      '{"external_id":"\\ud800x"}': '400 VALIDATION_ERROR',
      '{"__proto__":{"external_id":"p"}}': '400 VALIDATION_ERROR',
      '{"external_id":"p1","__proto__":null,"constructor":1,"hasOwnProperty":2,"toString":3,"valueOf":4,"then":5,"toJSON":6}':
        '201',
      '{"external_id":"p2","metadata":{"__proto__":{"a":1},"constructor":{"b":2},"toJSON":"x","then":"y"}}':
        '201',
      [`{"external_id":"d1","metadata":${'['.repeat(31)}${']'.repeat(31)}}`]: '400 VALIDATION_ERROR',
      // Too deep before anything parses it: that would take 200 ms, in which nobody else is answered.
      [`${'['.repeat(500_000)}`]: '400 VALIDATION_ERROR',
      [`{"external_id":"${'[{,'.repeat(30_000)}\\"${'['.repeat(40)}"}`]: '400 VALIDATION_ERROR',
      [`{"metadata":{"a":"${'[{,'.repeat(40)}\\"${'['.repeat(40)}"},"external_id":"brackets in a text"}`]:
        '201',
      // More than 20,000 values; a few less are taken.
      [`{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join()}}`]: '400 VALIDATION_ERROR',
      [`{"external_id":"many","b":[${Array(19_000).fill('[]').join()}]}`]: '201',
    };
    for (const [body, expected] of Object.entries(table))
      expect(code(await post(body)), body.slice(0, 100)).to.equal(expected);
    expect(({} as Record<string, unknown>)['external_id']).to.equal(undefined);
  });

  it('with odd queries are refused where a known parameter is wrong, and never cut or rounded', async () => {
    const bad = [
      ...'limit=0 limit=101 limit=1e1 limit=1&limit=2 page=0 page=1000001 starting_after=x'.split(' '),
      `page=1&starting_after=${UNKNOWN_ID}`,
      ...'created_from=2026-02-30T00:00:00Z email=a&email=b email=%ed%a0%80 search=%00 address=0x1 a=%ff'.split(
        ' ',
      ),
    ];
    for (const query of bad) {
      const answer = await call(`${api.url}/customers?${query}`, { key: api.keys.test });
      expect(code(answer), query).to.equal('400 VALIDATION_ERROR');
    }
  });
});
