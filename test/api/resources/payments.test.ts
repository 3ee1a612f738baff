import { expect } from 'chai';
import { type Answer, apiOf, call } from '../../support/gateway.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { linkCallsOf } from './link-calls.ts';

/** A whole link as its merchant sees it. */
const LINK_KEYS = `id token url status amount_status amount_usd currency paid_amount_usd remaining_amount_usd
  overpaid_amount_usd description external_id metadata success_url cancel_url customer_id email webhook_url
  paid_network paid_currency transaction_hash transactions sequence expires_at created_at completed_at
  is_live`.split(/\s+/);

describe('payment links', () => {
  const api = apiOf();
  let key: string;
  before(async () => {
    key = api.keys.test;
  });

  const { make, read, list, ids, look, cancel } = linkCallsOf(() => api);
  const email = 'payer@example.com';
  const request = (body: unknown): Promise<Answer> => call(`${api.url}/request-payment`, { key, body });
  const rows = async () => (await list()).body['pagination'].total;

  it('answers the whole link with its page, and no webhook secret where nothing is to be signed', async () => {
    const body = await make();
    expect(Object.keys(body)).to.have.members([...LINK_KEYS, 'webhook_secret']);
    const state = { status: 'pending', amount_status: 'none', currency: 'USDT', email, is_live: false };
    const amounts = { amount_usd: 25, paid_amount_usd: 0, remaining_amount_usd: 25, overpaid_amount_usd: 0 };
    const paid = { paid_network: null, paid_currency: null, transaction_hash: null, completed_at: null };
    expect(body).to.include({ ...state, ...amounts, ...paid, webhook_url: null });
    expect(body['webhook_secret'], 'also where it has nothing to sign').to.match(/^whsec_/);
    expect(body['metadata']).to.deep.equal({});
    expect(body['transactions']).to.deep.equal([]);
    expect(body['url']).to.match(new RegExp(`/pay/${body['token']}$`));
    expect(Date.parse(body['expires_at']) - Date.parse(body['created_at'])).to.equal(3_600_000);
  });

  it('shows the webhook secret once, and only with a webhook_url', async () => {
    const body = await make({ webhook_url: 'http://127.0.0.1:9/hook' });
    expect(body['webhook_secret']).to.match(/^whsec_/);
    const seen = await read(body['id']);
    expect(Object.keys(seen.body)).to.have.members(LINK_KEYS);
    expect(seen.text + (await list()).text + (await look(body['token'])).text).not.to.include(
      body['webhook_secret'],
    );
  });

  it('takes amount_usd and amount as a number and as text, to the cent', async () => {
    const amounts: [unknown, number][] = [
      ['5.00', 5],
      [19.99, 19.99],
      [8.2, 8.2],
      [3.2 + 2.36, 5.56],
      [10.1 + 10.2, 20.3],
      [999_999.9900000001, 999_999.99],
      ['1000000.00', 1_000_000],
    ];
    for (const name of ['amount_usd', 'amount'])
      for (const [given, amount] of amounts) {
        const body = await make({ amount_usd: undefined, [name]: given });
        const taken = [body['amount_usd'], body['remaining_amount_usd']];
        expect(taken, `${name} ${given}`).to.deep.equal([amount, amount]);
      }
  });

  it('takes both names for one amount', async () => {
    expect((await make({ amount_usd: 7, amount: '7.00' }))['amount_usd']).to.equal(7);
    const answer = await request({ email, amount_usd: 7, amount: 8 });
    expect([answer.status, answer.body['details'][0].path]).to.deep.equal([400, 'amount']);
  });

  it('says what the smallest amount is when asked for less', async () => {
    const before = await rows();
    for (const given of [4.99, '0.00']) {
      const { status, body } = await request({ email, amount_usd: given });
      expect([status, body['code'], body['minimum']]).to.deep.equal([400, 'AMOUNT_TOO_SMALL', 5]);
      expect(body['error'])
        .to.be.a('string')
        .and.match(/ 5 USD\b/);
    }
    expect(await rows()).to.equal(before);
  });

  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    amount_usd: [
      undefined,
      5.001,
      19.999,
      5.560000000001,
      -5,
      '1e3',
      '5,00',
      '',
      '0x10',
      '٥',
      1_000_000.01,
      true,
    ],
    email: [undefined, 'nobody'],
    expires_in: [299, 604_801, 300.5],
    success_url: ['javascript:alert(1)', '//shop.example/', 'https://shop.example/\nx'],
    cancel_url: ['data:text/html,x', 'https://shop.example:x@evil.example/'],
    webhook_url: ['nonsense', 'http://10.0.0.1/'],
    network: ['eth'],
    currency: ['BNB'],
    description: ['x'.repeat(501)],
    metadata: [{ a: 'x'.repeat(17_000) }],
    external_id: ['x'.repeat(256)],
  };
  const bad: (readonly [object, string])[] = [
    ...Object.entries(wrong).flatMap(([path, values]) =>
      values.map((value) => [{ [path]: value }, path] as const),
    ),
    [{ amount_usd: undefined, amount: '1,5' }, 'amount'],
  ];
  it('answers 400 for what cannot be, naming the field, and makes nothing', async () => {
    const before = await rows();
    for (const [body, path] of bad) {
      const answer = await request({ email, amount_usd: 25, ...body });
      const told = [answer.status, answer.body['code'], answer.body['details']?.[0].path];
      expect(told, `${JSON.stringify(body)} ${answer.text}`).to.deep.equal([400, 'VALIDATION_ERROR', path]);
    }
    expect(await rows()).to.equal(before);
  });

  it('are cancelled for good, and that says the same when it is asked for again', async () => {
    const { id, token } = await make();
    const first = await cancel(id);
    expect([first.status, first.body['status']]).to.deep.equal([200, 'cancelled']);
    for (const again of await Promise.all(Array.from({ length: 5 }, () => cancel(id))))
      expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect((await read(id)).body).to.deep.equal(first.body);
    expect((await look(token)).body).to.deep.include({ status: 'cancelled', methods: [] });
  });

  it('are listed by status, customer, text and time, to a session as to a key, in the mode that it asks for', async () => {
    const { id: merchantId, keys } = await api.newMerchant();
    const by = keys.test;
    const plain = await make({ description: '100% cotton', external_id: 'order_17' }, by);
    const gone = await make({ email: 'Gone@example.com' }, by);
    const live = await make({}, keys.live);
    await cancel(gone['id'], by);
    for (const query of ['status=pending', 'search=100%25%20COTTON', 'search=ORDER_17', 'search=payer@'])
      expect(ids(await list(query, by)), query).to.deep.equal([plain['id']]);
    for (const query of ['status=cancelled', `customer_id=${gone['customer_id']}`])
      expect(ids(await list(query, by)), query).to.deep.equal([gone['id']]);
    expect(ids(await list('search=100%25cotton', by))).to.deep.equal([]);
    expect((await list('status=open', by)).status).to.equal(400);
    const Cookie = await signIn(api, await newUser(api, merchantId));
    const session = (path: string, mode: string) =>
      call(`${api.url}${path}`, { headers: { Cookie, 'X-Mode': mode } });
    expect(ids(await session('/payments', 'live'))).to.deep.equal([live['id']]);
    expect((await session('/payments?limit=3', 'test')).body).to.deep.equal((await list('limit=3', by)).body);
  });
});
