import { expect } from 'chai';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

describe('GET /customers/exists', () => {
  let api: TestApi;
  let id: string;
  before(async () => {
    api = await startTestApi();
    id = (await create({ external_id: 'ex-1', email: 'Ex@Example.com' })).body['id'];
  });
  after(() => api.stop());

  const create = (body: unknown, key = api.keys.test) => call(`${api.url}/customers`, { key, body });
  const exists = (query: string, key = api.keys.test) =>
    call(`${api.url}/customers/exists?${query}`, { key });

  it('finds by either field and says which one it used', async () => {
    const customer = { id, external_id: 'ex-1', email: 'Ex@Example.com' };
    expect((await exists('external_id=ex-1')).body).to.deep.equal({
      exists: true,
      match: 'external_id',
      customer,
    });
    expect((await exists('email=Ex@Example.com')).body).to.deep.equal({
      exists: true,
      match: 'email',
      customer,
    });
    expect((await exists('external_id=%20ex-1%20')).body['exists']).to.equal(true);
  });

  it('looks at external_id first, and at email only when it is absent or blank', async () => {
    expect((await exists('external_id=none&email=Ex@Example.com')).body).to.deep.equal({
      exists: false,
      match: 'external_id',
      customer: null,
    });
    for (const blank of ['external_id=', 'external_id=%20%20', 'external_id=+']) {
      expect((await exists(`${blank}&email=Ex@Example.com`)).body).to.include({
        exists: true,
        match: 'email',
      });
    }
  });

  it('answers 200 for what is not there: another case, mode, merchant, or text too long to exist', async () => {
    const other = await api.newMerchant();
    const no = { exists: false, match: 'email', customer: null };
    expect((await exists('email=ex@example.com')).body).to.deep.equal(no);
    expect((await exists('email=Ex@Example.com', api.keys.live)).body).to.deep.equal(no);
    expect((await exists('email=Ex@Example.com', other.keys.test)).body).to.deep.equal(no);
    expect((await exists(`email=${'x'.repeat(2_000)}`)).body).to.deep.equal(no);
  });

  it('answers 400 with a sentence when neither is given', async () => {
    for (const query of ['', 'external_id=', 'email=%20', 'external_id=&email=']) {
      const answer = await exists(query);
      expect([answer.status, typeof answer.body['error']]).to.deep.equal([400, 'string']);
    }
  });

  it('answers 400 for a repeated field, a NUL character and broken percent-encoding', async () => {
    for (const query of ['email=a&email=b', 'email=a%00', 'email=%E0%A4%A', 'email=%ff'])
      expect((await exists(query)).status).to.equal(400);
  });
});
