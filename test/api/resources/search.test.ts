import { expect } from 'chai';
import { COUNTED_ROWS } from '../../../src/services/lists/query.ts';
import { apiOf, call } from '../../support/gateway.ts';

/** More than are looked through one by one. */
const ROWS = COUNTED_ROWS + 2_000;

/** Customer n is the nth; every tenth is a Tenner, the very first has texts that nobody else has. */
const FILL = `insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index,
  created_at, updated_at)
  select gen_random_uuid(), ?, 'test', 'user-' || n,
    case when n = 1 then 'First.Of+All@Example.com' else 'c' || n || '@example.com' end,
    case when n = 1 then 'Zq 100%_sure \\ Ärger' when n % 10 = 0 then 'Tenner ' || n
      else null end,
    '{}', nextval('wallet_index_seq'), now() - (${ROWS} - n) * interval '1 second', now()
      from generate_series(1, ${ROWS}) n`;

describe('search in a list that is longer than what is looked through', function () {
  this.timeout(60_000);
  const api = apiOf({ statementTimeoutMs: 15_000 });
  before(async () => {
    await api.deps.orm.em.fork().execute(FILL, [api.merchant.id]);
    await api.deps.orm.em.fork().execute('analyze customers');
  });

  const list = async (query: Record<string, string>) => {
    const answer = await call(`${api.url}/customers?${new URLSearchParams(query)}`, { key: api.keys.test });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };
  const namesOf = (body: { data?: { external_id: string }[] }) =>
    (body.data ?? []).map(({ external_id }) => external_id);

  it('finds what is in one old row, in any case and with its signs taken as they are', async () => {
    for (const search of ['of+all@EXAMPLE', '100%_sure', 'sure \\', 'ÄRGER']) {
      const body = await list({ search });
      expect(namesOf(body), search).to.deep.equal(['user-1']);
      expect(body['pagination'], search).to.deep.equal({ page: 1, limit: 25, total: 1, total_pages: 1 });
    }
    expect((await list({ search: '100_%sure' }))['pagination'].total).to.equal(0);
  });

  it('shows the newest of what is in many rows, and says that they were not all counted', async () => {
    const body = await list({ search: 'tenner', limit: '3' });
    expect(namesOf(body)).to.deep.equal([0, 10, 20].map((back) => `user-${ROWS - back}`));
    expect(body['pagination'].total_is_at_least).to.equal(true);
    expect(body['pagination'].total).to.be.within(COUNTED_ROWS / 10, ROWS / 10);
  });

  it('looks for what no index finds among the newest rows, and says so', async () => {
    const pagination = { page: 1, limit: 25, total: 0, total_is_at_least: true, total_pages: 0 };
    const body = await list({ search: 'zq' });
    expect([namesOf(body), body['pagination']]).to.deep.equal([[], pagination]);
  });
});
