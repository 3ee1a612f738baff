import { expect } from 'chai';
import { addressKeyOf } from '../../../src/chains/addresses.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

describe('customers over HTTP', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api.stop());

  const create = (body: unknown, key = api.keys.test) => call(`${api.url}/customers`, { key, body });
  const list = (query: string, key = api.keys.test) => call(`${api.url}/customers?${query}`, { key });
  const rows = async (sql: string) => await api.deps.orm.em.fork().execute<Record<string, unknown>[]>(sql);

  describe('POST /customers', () => {
    it('answers 201 with one permanent address for each network and every field', async () => {
      const { status, body } = await create({
        external_id: ' u-1 ',
        email: 'Jane@Example.com',
        name: 'Jane',
        metadata: { plan: 'gold', n: [1, null] },
        extra: 1,
      });
      expect(status).to.equal(201);
      expect(body).to.include({
        external_id: 'u-1',
        email: 'Jane@Example.com',
        name: 'Jane',
        is_live: false,
        deposit_count: 0,
        total_deposited_usd: 0,
      });
      expect(body['metadata']).to.deep.equal({ plan: 'gold', n: [1, null] });
      expect(body['created_at'])
        .to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        .and.equal(body['updated_at']);
      const [bsc, tron, ...others] = body['addresses'];
      expect(others).to.deep.equal([]);
      expect([bsc.network, bsc.native_currency, tron.network, tron.native_currency]).to.deep.equal([
        'bsc',
        'BNB',
        'tron',
        'TRX',
      ]);
      expect(addressKeyOf('bsc', bsc.address) && addressKeyOf('tron', tron.address)).to.be.a('string');
      expect(bsc.currencies).to.deep.equal([
        { currency: 'BNB', contract_address: null, decimals: 18 },
        { currency: 'USDT', contract_address: api.deps.settings.contracts.bsc, decimals: 18 },
      ]);
      expect((await call(`${api.url}/customers/${body['id']}`, { key: api.keys.test })).body).to.deep.equal(
        body,
      );
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

    it('queues the actor only where an endpoint subscribes', async () => {
      const starts = async () =>
        (await rows(`select message from outbox where message->>'workflowType' = 'notify'`)).length;
      await create({ external_id: 'nobody-listens' });
      expect(await starts()).to.equal(0);
      const key = api.keys.live;
      await call(`${api.url}/webhook-endpoints`, {
        key,
        body: { url: 'http://127.0.0.1:9/', events: ['customer.created'] },
      });
      await create({ external_id: 'somebody-listens' }, key);
      expect(await starts()).to.equal(1);
    });

    it('answers 409 with the field that is taken, external_id first', async () => {
      await create({ external_id: 'dup', email: 'dup@example.com' });
      const conflict = async (body: unknown) => {
        const answer = await create(body);
        return [answer.status, answer.body['code'], answer.body['field']];
      };
      expect(await conflict({ external_id: 'dup' })).to.deep.equal([409, 'CUSTOMER_EXISTS', 'external_id']);
      expect(await conflict({ email: ' dup@example.com ' })).to.deep.equal([409, 'CUSTOMER_EXISTS', 'email']);
      expect(await conflict({ external_id: 'dup', email: 'dup@example.com' })).to.deep.equal([
        409,
        'CUSTOMER_EXISTS',
        'external_id',
      ]);
      expect(await conflict({ external_id: 'other', email: 'dup@example.com' })).to.deep.equal([
        409,
        'CUSTOMER_EXISTS',
        'email',
      ]);
      expect((await create({ email: 'DUP@example.com' })).status).to.equal(201);
    });

    it('lets the same names exist once in each mode and for each merchant', async () => {
      const other = await api.newMerchant();
      const body = { external_id: 'shared', email: 'shared@example.com' };
      const answers = [];
      for (const key of [api.keys.test, api.keys.live, other.keys.test, other.keys.live])
        answers.push(await create(body, key));
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 201, 201]);
      const addresses = answers.flatMap((answer) =>
        answer.body['addresses'].map((one: { address: string }) => one.address),
      );
      expect(new Set(addresses).size).to.equal(8);
    });

    it('makes exactly one of 100 parallel creates of one external_id', async () => {
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => create({ external_id: 'parallel' })),
      );
      const count = (status: number) => answers.filter((answer) => answer.status === status).length;
      expect([count(201), count(409)]).to.deep.equal([1, 99]);
      const [made] = await rows(
        `select count(distinct c.id)::int as customers, count(a.id)::int as addresses from customers c
          join deposit_addresses a on a.customer_id = c.id where external_id = 'parallel'`,
      );
      expect(made).to.deep.equal({ customers: 1, addresses: 2 });
    });

    it('makes exactly one of many parallel creates that share only one of two names', async () => {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          create({ external_id: `cross-${n}`, email: 'cross@example.com' }),
        ),
      );
      expect(
        answers
          .map(({ status }) => status)
          .sort()
          .slice(0, 2),
      ).to.deep.equal([201, 409]);
      for (const answer of answers.filter(({ status }) => status === 409))
        expect(answer.body['field']).to.equal('email');
    });

    const bad: Record<string, [unknown, string]> = {
      'no name at all': [{ name: 'x' }, ''],
      'both names null': [{ external_id: null, email: null }, ''],
      'an empty external_id': [{ external_id: '  ' }, 'external_id'],
      'a number as external_id': [{ external_id: 7 }, 'external_id'],
      'an object as external_id': [{ external_id: { $ne: null } }, 'external_id'],
      'an external_id of 256 characters': [{ external_id: 'x'.repeat(256) }, 'external_id'],
      'an email without @': [{ email: 'jane' }, 'email'],
      'an email with a space': [{ email: 'ja ne@example.com' }, 'email'],
      'an email of 321 characters': [{ email: `${'x'.repeat(309)}@example.com` }, 'email'],
      'a list as email': [{ email: ['a@b.co'] }, 'email'],
      'a name of 256 characters': [{ external_id: 'n', name: 'x'.repeat(256) }, 'name'],
      'a text as metadata': [{ external_id: 'n', metadata: 'x' }, 'metadata'],
      'a list as metadata': [{ external_id: 'n', metadata: [] }, 'metadata'],
      'metadata of 51 keys': [
        {
          external_id: 'n',
          metadata: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, 1])),
        },
        'metadata',
      ],
      'metadata over 16 KiB': [{ external_id: 'n', metadata: { a: 'é'.repeat(8_200) } }, 'metadata'],
    };
    for (const [name, [body, path]] of Object.entries(bad)) {
      it(`answers 400 for ${name}, naming the field`, async () => {
        const answer = await create(body);
        expect(
          [answer.status, answer.body['code'], answer.body['details']?.[0].path],
          answer.text,
        ).to.deep.equal([400, 'VALIDATION_ERROR', path]);
      });
    }

    it('keeps hostile text exactly as it came', async () => {
      const external_id = `'; drop table customers; -- ? $1 \\ %_ "\u202e\u{1f4b0}\ttab`;
      const { status, body } = await create({ external_id, metadata: { "k?'": '?\\' } });
      expect([status, body['external_id'], body['metadata']]).to.deep.equal([
        201,
        external_id,
        { "k?'": '?\\' },
      ]);
      expect((await list(`external_id=${encodeURIComponent(external_id)}`)).body['data']).to.have.length(1);
      expect((await list(`search=${encodeURIComponent('%_')}`)).body['data']).to.have.length(1);
    });
  });

  it('never shows a customer to another merchant or in the other mode', async () => {
    const other = await api.newMerchant();
    const { body } = await create({ external_id: 'mine', email: 'mine@example.com' });
    for (const key of [api.keys.live, other.keys.test, other.keys.live]) {
      expect((await call(`${api.url}/customers/${body['id']}`, { key })).status).to.equal(404);
      for (const query of [
        'external_id=mine',
        'email=mine@example.com',
        'search=mine',
        `address=${body['addresses'][0].address}`,
      ]) {
        expect((await list(query, key)).body['data']).to.deep.equal([]);
      }
    }
  });
});
