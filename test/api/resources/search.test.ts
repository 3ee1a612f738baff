import { expect } from 'chai';
import { rows, sql } from '../../../src/db/sql.ts';
import { COUNTED_ROWS } from '../../../src/services/lists/query.ts';
import { INDEXED_ROWS, WALKED_ROWS } from '../../../src/services/lists/search.ts';
import { CUSTOMER_TEXTS, holdsPart, LINK_TEXTS } from '../../../src/services/lists/texts.ts';
import { apiOf, call } from '../../support/gateway.ts';

/** More than are looked through one by one. */
const ROWS = COUNTED_ROWS + 2_000;

/** Customer n is the nth; every tenth is a Tenner, the very first has texts that nobody else has. */
const FILL = `insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index,
  created_at, updated_at)
  select gen_random_uuid(), ?, 'test', 'user-' || n,
    case when n = 1 then 'First.Of+All@Example.com' else 'c' || n || '@example.com' end,
    case when n = 1 then 'Zq 100%_sure \\ Ärger' when n % 10 = 0 then 'Tenner ' || n
      when n <= 300 then 'Elder ' || n else null end,
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
    for (const search of ['FIRST', 'of+all@EXAMPLE', '100%_sure', 'sure \\', 'ÄRGER', 'zq 100']) {
      const body = await list({ search });
      expect(namesOf(body), search).to.deep.equal(['user-1']);
      expect(body['pagination'], search).to.deep.equal({ page: 1, limit: 25, total: 1, total_pages: 1 });
    }
    for (const search of ['100_%sure', 'sure_\\', 'nobody has this', 'example.com user']) {
      expect((await list({ search }))['pagination'].total, search).to.equal(0);
    }
  });

  it('shows the newest of what is in many rows, and says that they were not all counted', async () => {
    const body = await list({ search: 'tenner', limit: '3' });
    expect(namesOf(body)).to.deep.equal([0, 10, 20].map((back) => `user-${ROWS - back}`));
    expect(body['pagination'].total_is_at_least).to.equal(true);
    expect(body['pagination'].total).to.be.within(COUNTED_ROWS / 10, ROWS / 10);
    const all = await list({ search: 'user-' });
    expect(all['pagination'])
      .to.include({ total_is_at_least: true })
      .and.to.have.property('total')
      .that.is.within(COUNTED_ROWS, COUNTED_ROWS + 1);
  });

  it('counts what is in few old rows exactly, and walks them to the end in both directions', async () => {
    const expected = Array.from({ length: 300 }, (_, index) => 300 - index).filter(
      (n) => n % 10 !== 0 && n !== 1,
    );
    const pages: { id: string; external_id: string }[][] = [];
    for (let cursor = {}, more = true; more; ) {
      const body = await list({ search: 'elder', limit: '100', ...cursor });
      expect(body['pagination'].total).to.equal(expected.length);
      expect(body['pagination']).not.to.have.property('total_is_at_least');
      pages.push(body['data']);
      cursor = { starting_after: body['data'].at(-1).id };
      more = body['has_more'];
    }
    const walked = pages.flatMap((data) => namesOf({ data }));
    expect(walked).to.deep.equal(expected.map((n) => `user-${n}`));
    const back = await list({ search: 'elder', limit: '100', ending_before: pages[1]?.[0]?.id ?? '' });
    expect(namesOf(back)).to.deep.equal(walked.slice(0, 100));
    expect(namesOf(await list({ search: 'elder', limit: '100', page: '2' }))).to.deep.equal(
      walked.slice(100, 200),
    );
  });

  it('looks for what no index finds among the newest rows, and says so', async () => {
    const pagination = { page: 1, limit: 25, total: 0, total_is_at_least: true, total_pages: 0 };
    for (const search of ['zq', '%', '\\', '+']) {
      const body = await list({ search });
      expect([namesOf(body), body['pagination']], search).to.deep.equal([[], pagination]);
    }
    expect(namesOf(await list({ search: '@', limit: '1' }))).to.deep.equal([`user-${ROWS}`]);
  });

  it('asks in the very words of the indexes', async () => {
    await api.deps.orm.em.fork().transactional(async (em) => {
      await em.execute('set local enable_seqscan = off');
      for (const [table, texts] of Object.entries({ customers: CUSTOMER_TEXTS, payment_links: LINK_TEXTS })) {
        const holds = holdsPart(texts, { before: '', letters: 'First', after: '' });
        const plan = await rows(
          em,
          sql<Record<string, string>>`explain select id from ${sql.table(table)} where ${holds}`,
        );
        expect(plan.map((line) => line['QUERY PLAN']).join('\n')).to.include(`${table}_search_index`);
      }
    });
  });
});

/**
 * The newer ones have names of their own, and so have the
 * older ones, of whom there are too many for the index.
 */
const NEWER = COUNTED_ROWS + 500;
const OLDER = WALKED_ROWS + 1_500;
const CROWD = `insert into customers (id, merchant_id, mode, external_id, email, name, metadata, wallet_index,
  created_at, updated_at)
  select gen_random_uuid(), ?, 'live', 'user-' || n, null,
    case when n = 1 then 'Zq Quux' when n <= ${OLDER} then 'Crowd ' || n else 'Fresh ' || n end,
    '{}', nextval('wallet_index_seq'), now() - (${NEWER + OLDER} - n) * interval '1 second', now()
      from generate_series(1, ${NEWER + OLDER}) n`;

/** The index would read each of the rows: 1,000,000 of them took longer than a request may. */
describe('search for a text whose every part is in very many rows', function () {
  this.timeout(120_000);
  const api = apiOf({ statementTimeoutMs: 60_000 });
  before(async () => {
    expect(OLDER).to.be.above(INDEXED_ROWS);
    await api.deps.orm.em.fork().execute(CROWD, [api.merchant.id]);
    await api.deps.orm.em.fork().execute('analyze customers');
  });

  const list = async (query: Record<string, string>) => {
    const answer = await call(`${api.url}/customers?${new URLSearchParams(query)}`, { key: api.keys.live });
    expect(answer.status, answer.text).to.equal(200);
    const names = (answer.body['data'] as { external_id: string }[]).map(({ external_id }) => external_id);
    return {
      names,
      more: answer.body['has_more'] as boolean,
      pagination: answer.body['pagination'] as object,
    };
  };
  const users = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `user-${from - index}`);

  it('goes through a stretch of the list, newest first, and says that there may be others', async () => {
    const first = await list({ search: 'crowd' });
    expect(first.names).to.deep.equal(users(OLDER, 25));
    expect(first.more).to.equal(true);
    expect(first.pagination).to.have.property('total_is_at_least', true);
    const nobody = await list({ search: 'wd user' });
    expect([nobody.names, nobody.pagination]).to.deep.equal([
      [],
      { page: 1, limit: 25, total: 0, total_is_at_least: true, total_pages: 0 },
    ]);
  });

  it('finds exactly what has one part that is in few rows, beside parts that all have', async () => {
    for (const [search, expected] of Object.entries({
      'zq quux': ['user-1'],
      'fresh crowd': [],
      'crowd 123': [...users(12_399, 100), ...users(1_239, 10), 'user-123'],
      'user-77': [...users(7_799, 100), ...users(779, 10), 'user-77'],
      'user-1\nzq': [],
    })) {
      const [first, second] = [
        await list({ search, limit: '100' }),
        await list({ search, limit: '100', page: '2' }),
      ];
      expect([...first.names, ...second.names], search).to.deep.equal(expected);
      expect(first.pagination, search)
        .to.include({ total: expected.length })
        .and.not.to.have.property('total_is_at_least');
    }
  });
});
