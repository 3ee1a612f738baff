import { expect } from 'chai';
import { apiOf, call } from '../../support/gateway.ts';

const HASH = `0x${'ab'.repeat(32)}`;

describe('deposits over HTTP', () => {
  const api = apiOf();
  let key: string;
  let customer: string;
  before(async () => {
    key = api.keys.test;
    customer = (
      await call(`${api.url}/customers`, { key, body: { external_id: 'payer', email: 'payer@example.com' } })
    ).body['id'];
  });

  const simulate = (body: object, by = key) =>
    call(`${api.url}/test/simulate-deposit`, { key: by, body: { customer_id: customer, ...body } });
  const list = (query: string, by = key) => call(`${api.url}/deposits?${query}`, { key: by });

  it('simulates 10 USDT on bsc, completed, when only the customer is named', async () => {
    const { status, body } = await simulate({});
    expect(status).to.equal(201);
    const payer = { customer_id: customer, external_id: 'payer', email: 'payer@example.com' };
    const money = {
      network: 'bsc',
      currency: 'USDT',
      amount: '10',
      amount_raw: `10${'0'.repeat(18)}`,
      amount_usd: 10,
    };
    const state = { status: 'completed', is_live: false, confirmations: 15, required_confirmations: 15 };
    const nothing = { payment_token: null, settlement: null, failure_code: null };
    expect(body).to.include({ ...payer, ...money, ...state, ...nothing });
    expect((await call(`${api.url}/deposits/${body['id']}`, { key })).body).to.deep.equal(body);
  });

  it('takes an amount under each name, exactly', async () => {
    const amounts: [object, string, string][] = [
      [{ amount: 3, amount_usd: '3' }, '3', '3000000000000000000'],
      [{ token: 'USDT', network: 'tron', amount: '0.000001' }, '0.000001', '1'],
      [
        { amount: '123456789.123456789012345678' },
        '123456789.123456789012345678',
        '123456789123456789012345678',
      ],
    ];
    for (const [body, amount, raw] of amounts) {
      const answer = await simulate(body);
      expect([answer.status, answer.body['amount'], answer.body['amount_raw']], answer.text).to.deep.equal([
        201,
        amount,
        raw,
      ]);
    }
  });

  it('answers 200 with the same deposit for a hash that was used, and sends nothing', async () => {
    const body = { transaction_hash: HASH, amount: '5' };
    const first = await simulate(body);
    const events = async () =>
      await api.deps.orm.em.fork().execute('select id from events where subject_id = ?', [first.body['id']]);
    const before = await events();
    const again = await simulate({
      ...body,
      transaction_hash: HASH.toUpperCase().replace('0X', '0x'),
      amount: '6',
      outcome: 'failed',
    });
    expect([first.status, again.status]).to.deep.equal([201, 200]);
    expect(again.body).to.deep.equal(first.body);
    expect(await events()).to.deep.equal(before);
    const raced = await Promise.all(
      Array.from({ length: 10 }, () => simulate({ transaction_hash: `0x${'cd'.repeat(32)}` })),
    );
    expect(raced.map(({ status }) => status).sort()).to.deep.equal([
      ...Array.from({ length: 9 }, () => 200),
      201,
    ]);
    expect(new Set(raced.map((answer) => answer.body['id'])).size).to.equal(1);
  });

  const bad: [object, string][] = [
    [{ customer_id: undefined }, 'customer_id'],
    [{ currency: 'TRX' }, 'currency'],
    [{ currency: 'USDT', token: 'BNB' }, 'token'],
    ...['0.00', -1, 1e30, '1000000000001', `0.${'0'.repeat(18)}1`, '1,5'].map((amount): [object, string] => [
      { amount },
      'amount',
    ]),
    [{ currency: 'BNB', amount_usd: 1 }, 'amount_usd'],
    [{ amount: 1, amount_usd: 2 }, 'amount_usd'],
    [{ transaction_hash: 'ab'.repeat(32) }, 'transaction_hash'],
    [{ from_address: '0x1' }, 'from_address'],
    [{ outcome: 'done' }, 'outcome'],
  ];
  it('answers 400 for what cannot be, naming the field, and makes nothing', async () => {
    const total = async () => (await list('')).body['pagination'].total;
    const before = await total();
    for (const [body, path] of bad) {
      const answer = await simulate(body);
      const told = [answer.status, answer.body['code'], answer.body['details']?.[0].path];
      expect(told, `${JSON.stringify(body)} ${answer.text}`).to.deep.equal([400, 'VALIDATION_ERROR', path]);
    }
    expect(await total()).to.equal(before);
  });

  it('answers 503 while a coin has no price, instead of inventing one', async () => {
    const answer = await simulate({ currency: 'BNB', amount: 1 });
    expect([answer.status, answer.body['code']]).to.deep.equal([503, 'UNAVAILABLE']);
  });

  it('filters by each field and adds up for the customer', async () => {
    const { keys } = await api.newMerchant();
    const newCustomer = async (external_id: string) =>
      (await call(`${api.url}/customers`, { key: keys.test, body: { external_id } })).body['id'];
    const [payer, other] = [await newCustomer('f'), await newCustomer('g')];
    const make = async (body: object) => (await simulate({ customer_id: payer, ...body }, keys.test)).body;
    const completed = await make({ amount: '1.005', transaction_hash: HASH });
    const settled = await make({ amount: '2', network: 'tron', outcome: 'settled' });
    const failed = await make({ amount: '4', outcome: 'failed' });
    const elsewhere = await make({ customer_id: other, amount: '8', outcome: 'detected' });
    const ids = async (query: string) =>
      (await list(query, keys.test)).body['data'].map((row: { id: string }) => row.id);
    expect(await ids('')).to.deep.equal([elsewhere['id'], failed['id'], settled['id'], completed['id']]);
    expect(await ids('status=failed')).to.deep.equal([failed['id']]);
    expect(await ids('network=tron&currency=USDT')).to.deep.equal([settled['id']]);
    expect(await ids(`customer_id=${other}`)).to.deep.equal([elsewhere['id']]);
    expect(await ids(`transaction_hash=${HASH}`)).to.deep.equal([completed['id']]);
    expect(await ids('created_to=2001-01-01T00:00:00Z')).to.deep.equal([]);
    expect(await ids(`limit=1&starting_after=${failed['id']}`)).to.deep.equal([settled['id']]);
    const read = (await call(`${api.url}/customers/${payer}`, { key: keys.test })).body;
    expect([read['deposit_count'], read['total_deposited_usd']]).to.deep.equal([3, 3.01]);
    const page = await call(`${api.url}/customers`, { key: keys.test });
    expect(
      page.body['data'].map((row: { total_deposited_usd: number }) => row.total_deposited_usd),
    ).to.deep.equal([0, 3.01]);
  });
});
