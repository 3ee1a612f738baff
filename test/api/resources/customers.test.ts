import { expect } from 'chai';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { apiOf, call } from '../../support/gateway.ts';

describe('customers over HTTP', () => {
  const api = apiOf();

  const create = (body: unknown, key = api.keys.test) => call(`${api.url}/customers`, { key, body });
  const list = (query: string, key = api.keys.test) => call(`${api.url}/customers?${query}`, { key });
  const rows = async (sql: string) => await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql);

  describe('POST /customers', () => {
    it('answers 201 with one permanent address for each network and every field', async () => {
      const texts = { email: 'Jane@Example.com', name: 'Jane' };
      const metadata = { plan: 'gold', n: [1, null] };
      const { status, body } = await create({ external_id: ' u-1 ', ...texts, metadata, extra: 1 });
      const counts = { deposit_count: 0, total_deposited_usd: 0 };
      expect([status, body['metadata']]).to.deep.equal([201, metadata]);
      expect(body).to.include({ external_id: 'u-1', ...texts, is_live: false, ...counts });
      expect(body['created_at'])
        .to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        .and.equal(body['updated_at']);
      const [bsc, tron, ...others] = body['addresses'];
      expect(others).to.deep.equal([]);
      expect(bsc).to.include({ network: 'bsc', native_currency: 'BNB' });
      expect(tron).to.include({ network: 'tron', native_currency: 'TRX' });
      expect(addressKeyOf('bsc', bsc.address) && addressKeyOf('tron', tron.address)).to.be.a('string');
      expect(bsc.currencies).to.deep.equal([
        { currency: 'BNB', contract_address: null, decimals: 18 },
        { currency: 'USDT', contract_address: api.deps.settings.contracts.bsc, decimals: 18 },
      ]);
      const read = await call(`${api.url}/customers/${body['id']}`, { key: api.keys.test });
      expect(read.body).to.deep.equal(body);
    });

    it('takes the empty list that PHP makes of no metadata', async () => {
      const { status, body } = await create({ external_id: 'php', metadata: [] });
      expect([status, body['metadata']]).to.deep.equal([201, {}]);
    });

    it('writes the event with the same customer, once', async () => {
      const { body } = await create({ external_id: 'event-1' });
      const events = await rows(
        `select convert_from(body, 'utf8') as body from events where subject_id = '${body['id']}'`,
      );
      expect(events).to.have.length(1);
      const event = JSON.parse(String(events[0]?.['body']));
      expect(event).to.deep.equal({ event: 'customer.created', data: body, timestamp: body['created_at'] });
    });

    it('answers 409 with the field that is taken, external_id first', async () => {
      await create({ external_id: 'dup', email: 'dup@example.com' });
      for (const [body, field] of [
        [{ external_id: 'dup' }, 'external_id'],
        [{ email: ' dup@example.com ' }, 'email'],
        [{ external_id: 'dup', email: 'dup@example.com' }, 'external_id'],
        [{ external_id: 'other', email: 'dup@example.com' }, 'email'],
      ] as const) {
        const answer = await create(body);
        const told = [answer.status, answer.body['code'], answer.body['field']];
        expect(told).to.deep.equal([409, 'CUSTOMER_EXISTS', field]);
      }
      expect((await create({ email: 'DUP@example.com' })).status).to.equal(201);
    });

    it('lets the same names exist once in each mode and for each merchant', async () => {
      const other = await api.newMerchant();
      const body = { external_id: 'shared', email: 'shared@example.com' };
      const addresses = new Set<string>();
      for (const key of [api.keys.test, api.keys.live, other.keys.test, other.keys.live]) {
        const made = await create(body, key);
        expect(made.status, made.text).to.equal(201);
        for (const { address } of made.body['addresses']) addresses.add(address);
      }
      expect(addresses.size).to.equal(8);
    });

    it('makes exactly one of many parallel creates that share one name, or one of two', async () => {
      for (const [field, named] of [
        ['external_id', () => ({ external_id: 'parallel' })],
        ['email', (n: number) => ({ external_id: `cross-${n}`, email: 'cross@example.com' })],
      ] as const) {
        const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => create(named(n))));
        expect(answers.filter(({ status }) => status === 201)).to.have.length(1);
        const told = answers.map(({ status, body }) => (status === 201 ? field : `${body['field']}`));
        expect(new Set(told)).to.deep.equal(new Set([field]));
      }
      const [made] = await rows(
        `select count(distinct c.id)::int as customers, count(a.id)::int as addresses from customers c
          join deposit_addresses a on a.customer_id = c.id where external_id = 'parallel'`,
      );
      expect(made).to.deep.equal({ customers: 1, addresses: 2 });
    });

    const bad: [object, string][] = [
      [{ name: 'x' }, ''],
      [{ external_id: '  ' }, 'external_id'],
      [{ external_id: { $ne: null } }, 'external_id'],
      [{ external_id: 'x'.repeat(256) }, 'external_id'],
      [{ email: 'jane' }, 'email'],
      [{ external_id: 'n', name: 'x'.repeat(256) }, 'name'],
      [{ external_id: 'n', metadata: [1] }, 'metadata'],
      [{ external_id: 'n', metadata: { a: 'é'.repeat(8_200) } }, 'metadata'],
    ];
    it('answers 400 for what cannot be, naming the field, and makes nothing', async () => {
      for (const [body, path] of bad) {
        const answer = await create(body);
        const told = [answer.status, answer.body['code'], answer.body['details']?.[0].path];
        expect(told, answer.text).to.deep.equal([400, 'VALIDATION_ERROR', path]);
      }
      expect((await list('external_id=n')).body['data']).to.deep.equal([]);
    });
  });
});
