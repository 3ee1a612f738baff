import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { expectError } from './expect-error.ts';

describe('the error table of the API, for bodies', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  it('takes a body of exactly 1 MiB and one in chunks, and refuses one byte more of either', async () => {
    const head = { key: api.keys.test, method: 'POST', headers: { 'Content-Type': 'application/json' } };
    const of = (size: number) => `{"external_id":"","x":"${'x'.repeat(size - 25)}"}`;
    expect(of(1024 * 1024)).to.have.length(1024 * 1024);
    expectError(
      await call(`${api.url}/customers`, { ...head, body: of(1024 * 1024) }),
      400,
      'VALIDATION_ERROR',
    );
    expectError(
      await call(`${api.url}/customers`, { ...head, body: of(1024 * 1024 + 1) }),
      413,
      'PAYLOAD_TOO_LARGE',
    );
    const chunked = await fetch(`${api.url}/customers`, {
      method: 'POST',
      headers: { 'x-api-key': api.keys.test, 'Content-Type': 'application/json' },
      duplex: 'half',
      body: ReadableStream.from([Buffer.alloc(700_000, 32), Buffer.alloc(700_000, 32)]),
    } as RequestInit);
    expect(chunked.status).to.equal(413);
  });

  const badTypes = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'multipart/form-data; boundary=x',
  ];
  for (const type of badTypes) {
    it(`answers 415 for ${type}`, async () => {
      const input = {
        key: api.keys.test,
        method: 'POST',
        body: '{"external_id":"t"}',
        headers: { 'Content-Type': type },
      };
      expectError(await call(`${api.url}/customers`, input), 415, 'UNSUPPORTED_MEDIA_TYPE');
    });
  }

  it('answers 415 for a compressed body', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
    expectError(
      await call(`${api.url}/customers`, { key: api.keys.test, method: 'POST', body: 'x', headers }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  const badJson: Record<string, [string | Uint8Array, string]> = {
    'broken JSON': ['{"external_id": "x"', 'INVALID_JSON'],
    'bytes that are not UTF-8': [Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), 'INVALID_JSON'],
    'a list': ['[{"external_id":"x"}]', 'VALIDATION_ERROR'],
    'a text': ['"x"', 'VALIDATION_ERROR'],
    null: ['null', 'VALIDATION_ERROR'],
    'a NUL character in a value': ['{"external_id":"a\\u0000b"}', 'VALIDATION_ERROR'],
    'a NUL character in an unknown member': [
      '{"external_id":"x","other":{"a\\u0000":1}}',
      'VALIDATION_ERROR',
    ],
    'half of a surrogate pair': ['{"external_id":"\\ud800"}', 'VALIDATION_ERROR'],
    'a number beyond all bounds': ['{"external_id":"x","metadata":{"n":1e999}}', 'VALIDATION_ERROR'],
    'very deep nesting': [
      `{"external_id":"x","metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      'VALIDATION_ERROR',
    ],
    'very deep lists in an unknown member': [
      `{"external_id":"x","y":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
      'VALIDATION_ERROR',
    ],
  };
  for (const [name, [body, code]] of Object.entries(badJson)) {
    it(`answers 400 for ${name}, and nothing is made`, async () => {
      const input = {
        key: api.keys.test,
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      };
      expectError(await call(`${api.url}/customers`, input), 400, code);
      expect(
        (await call(`${api.url}/customers?external_id=x`, { key: api.keys.test })).body['data'],
      ).to.deep.equal([]);
    });
  }

  it('lets a POST without a body come without a Content-Type, and says what is missing', async () => {
    expectError(
      await call(`${api.url}/customers`, { key: api.keys.test, method: 'POST' }),
      400,
      'VALIDATION_ERROR',
    );
    const missing = await call(`${api.url}/webhook-endpoints`, { key: api.keys.test, method: 'POST' });
    expect(missing.body['details']).to.deep.equal([
      { path: 'url', message: 'is required' },
      { path: 'events', message: 'is required' },
    ]);
  });

  it('does no harm with __proto__ and constructor members', async () => {
    const body =
      '{"external_id":"proto","__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"metadata":{"__proto__":{"isAdmin":true},"a":1}}';
    const answer = await call(`${api.url}/customers`, {
      key: api.keys.test,
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json' },
    });
    expect([answer.status, answer.body['metadata']]).to.deep.equal([201, { a: 1 }]);
    expect(({} as Record<string, unknown>)['isAdmin']).to.equal(undefined);
  });
});
