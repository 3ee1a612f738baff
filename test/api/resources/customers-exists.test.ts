import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

describe('GET /customers/exists', () => {
  let api: TestApi;
  let customer: object;
  before(async () => {
    api = await startTestApi();
    const names = { external_id: 'ex-1', email: 'Ex@Example.com' };
    const { body } = await call(`${api.url}/customers`, { key: api.keys.test, body: names });
    customer = { id: body['id'], ...names };
  });
  after(() => api.stop());

  const exists = async (query: string, key = api.keys.test) => {
    const { status, body } = await call(`${api.url}/customers/exists?${query}`, { key });
    return status === 200 ? [body['exists'], body['match'], body['customer']] : status;
  };

  it('finds by external_id first, and by email only when that is absent or blank, and says which one it used', async () => {
    for (const query of ['external_id=ex-1', 'external_id=%20ex-1%20', 'external_id=ex-1&email=none'])
      expect(await exists(query), query).to.deep.equal([true, 'external_id', customer]);
    const missed = await exists('external_id=none&email=Ex@Example.com');
    expect(missed).to.deep.equal([false, 'external_id', null]);
    for (const blank of ['', 'external_id=&', 'external_id=%20%20&', 'external_id=+&'])
      expect(await exists(`${blank}email=Ex@Example.com`)).to.deep.equal([true, 'email', customer]);
  });

  it('answers 200 for what is not there: another case, mode, merchant, or text too long to exist', async () => {
    const other = await api.newMerchant();
    for (const [email, key] of [
      ['ex@example.com', api.keys.test],
      ['Ex@Example.com', api.keys.live],
      ['Ex@Example.com', other.keys.test],
      ['x'.repeat(2_000), api.keys.test],
    ] as const)
      expect(await exists(`email=${email}`, key)).to.deep.equal([false, 'email', null]);
  });

  it('answers 400 when neither is given, for a repeated field, a NUL character and broken percent-encoding', async () => {
    for (const query of [
      '',
      'external_id=&email=',
      'email=a&email=b',
      'email=a%00',
      'email=%E0%A4%A',
      'email=%ff',
    ])
      expect(await exists(query), query).to.equal(400);
  });
});
