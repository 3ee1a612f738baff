import { expect } from 'chai';
import { type Answer, call, startTestApi, type TestApi, UNKNOWN_ID } from '../../support/gateway.ts';

/** A whole link as its merchant sees it. */
const LINK_KEYS = [
  'id',
  'token',
  'url',
  'status',
  'amount_status',
  'amount_usd',
  'currency',
  'paid_amount_usd',
  'remaining_amount_usd',
  'overpaid_amount_usd',
  'description',
  'external_id',
  'metadata',
  'success_url',
  'cancel_url',
  'customer_id',
  'email',
  'webhook_url',
  'paid_network',
  'paid_currency',
  'transaction_hash',
  'transactions',
  'sequence',
  'expires_at',
  'created_at',
  'completed_at',
  'is_live',
];
describe('POST /request-payment', () => {
  let api: TestApi;
  let key: string;
  before(async () => {
    api = await startTestApi();
    key = api.keys.test;
  });
  after(() => api.stop());

  const request = (body: unknown, by = key): Promise<Answer> =>
    call(`${api.url}/request-payment`, { key: by, body });
  const email = 'payer@example.com';
  const make = async (more: object = {}, by = key) => {
    const answer = await request({ email, amount_usd: 25.5, ...more }, by);
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  };
  const list = (query = '', by = key) => call(`${api.url}/payment-links?${query}`, { key: by });
  const look = (token: string) => call(`${api.url}/payments/${token}`);
  const rows = async () => (await list()).body['pagination'].total;

  it('answers the whole link with its page, and no webhook secret where nothing is to be signed', async () => {
    const body = await make();
    expect(Object.keys(body)).to.have.members([...LINK_KEYS, 'webhook_secret']);
    expect(body).to.include({
      status: 'pending',
      amount_status: 'none',
      amount_usd: 25.5,
      currency: 'USDT',
      email,
      is_live: false,
    });
    expect(body).to.include({ paid_amount_usd: 0, remaining_amount_usd: 25.5, overpaid_amount_usd: 0 });
    expect(body['webhook_secret'], 'also where it has nothing to sign').to.match(/^whsec_/);
    expect(body).to.include({
      paid_network: null,
      paid_currency: null,
      transaction_hash: null,
      completed_at: null,
      webhook_url: null,
    });
    expect(body['metadata']).to.deep.equal({});
    expect(body['transactions']).to.deep.equal([]);
    expect(body['url']).to.match(new RegExp(`/pay/${body['token']}$`));
    expect(Date.parse(body['expires_at']) - Date.parse(body['created_at'])).to.equal(3_600_000);
  });

  it('gives every link a token of its own that nobody guesses', async () => {
    const tokens = (await Promise.all(Array.from({ length: 5 }, () => make()))).map((link) => link['token']);
    expect(new Set(tokens).size).to.equal(5);
    for (const token of tokens) expect(token).to.match(/^[A-Za-z0-9_-]{22,64}$/);
  });

  it('keeps what it was given', async () => {
    const given = {
      description: 'Order 7',
      external_id: 'order-7',
      metadata: { cart: [1, { a: 'b' }] },
      network: 'tron',
      currency: 'USDT',
      success_url: 'https://shop.example/ok?a=b#c',
      cancel_url: 'http://localhost:3000/no',
      expires_in: 300,
    };
    const body = await make(given);
    const { network: _, expires_in: __, ...kept } = given;
    expect(body).to.deep.include(kept);
    expect(Date.parse(body['expires_at']) - Date.parse(body['created_at'])).to.equal(300_000);
    expect(
      (await look(body['token'])).body['methods'].map((method: { network: string }) => method.network),
    ).to.deep.equal(['tron']);
  });

  it('shows the webhook secret once, and only with a webhook_url', async () => {
    const body = await make({ webhook_url: 'http://127.0.0.1:9/hook' });
    expect(body['webhook_secret']).to.match(/^whsec_/);
    const read = await call(`${api.url}/payment-links/${body['id']}`, { key });
    expect(Object.keys(read.body)).to.have.members(LINK_KEYS);
    expect(read.text + (await list()).text + (await look(body['token'])).text).not.to.include(
      body['webhook_secret'],
    );
  });

  it('refuses a webhook_url that no endpoint may have', async () => {
    for (const webhook_url of [
      'ftp://shop.example/',
      'https://user:pw@shop.example/',
      'nonsense',
      'http://10.0.0.1/',
    ]) {
      const answer = await request({ email, amount_usd: 5, webhook_url });
      expect([answer.status, answer.body['details']?.[0].path], webhook_url).to.deep.equal([
        400,
        'webhook_url',
      ]);
    }
  });

  const amounts: [unknown, number][] = [
    [5, 5],
    ['5', 5],
    ['5.00', 5],
    [' 5.5 ', 5.5],
    [5.1, 5.1],
    [19.99, 19.99],
    ['0019.99'.slice(2), 19.99],
    [1e3, 1000],
    [8.2, 8.2],
    [1_000_000, 1_000_000],
    ['1000000.00', 1_000_000],
    [999_999.99, 999_999.99],
  ];
  for (const name of ['amount_usd', 'amount']) {
    it(`takes ${name} as a number and as text, to the cent`, async () => {
      for (const [given, amount] of amounts) {
        const body = await make({ amount_usd: undefined, [name]: given });
        expect([body['amount_usd'], body['remaining_amount_usd']], String(given)).to.deep.equal([
          amount,
          amount,
        ]);
      }
    });
  }

  it('takes the number that a writer of 17 digits prints', async () => {
    const answer = await call(`${api.url}/request-payment`, {
      key,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: `{"email": "${email}", "amount_usd": 5.0999999999999996}`,
    });
    expect([answer.status, answer.body['amount_usd']], answer.text).to.deep.equal([201, 5.1]);
  });

  it('takes both names for one amount', async () => {
    expect((await make({ amount_usd: 7, amount: '7.00' }))['amount_usd']).to.equal(7);
    const answer = await request({ email, amount_usd: 7, amount: 8 });
    expect([answer.status, answer.body['details'][0].path]).to.deep.equal([400, 'amount']);
  });

  for (const given of [4.99, '4.99', 0, '0.00', 0.01]) {
    it(`says what the smallest amount is when asked for ${JSON.stringify(given)}`, async () => {
      const before = await rows();
      const { status, body } = await request({ email, amount_usd: given });
      expect([status, body['code'], body['minimum']]).to.deep.equal([400, 'AMOUNT_TOO_SMALL', 5]);
      expect(body['error'])
        .to.be.a('string')
        .and.match(/ 5 USD\b/);
      expect(await rows()).to.equal(before);
    });
  }

  const bad: Record<string, [object, string]> = {
    'no amount': [{ amount_usd: undefined }, 'amount_usd'],
    'null as amount': [{ amount_usd: null }, 'amount_usd'],
    'three decimals': [{ amount_usd: '5.001' }, 'amount_usd'],
    'three decimals below the minimum': [{ amount_usd: '4.999' }, 'amount_usd'],
    'three decimals in a number': [{ amount_usd: 5.001 }, 'amount_usd'],
    'a sum that drifted': [{ amount_usd: 10.1 + 10.2 }, 'amount_usd'],
    'an exponent in text': [{ amount_usd: '1e3' }, 'amount_usd'],
    'a huge number': [{ amount_usd: 1e30 }, 'amount_usd'],
    'a negative number': [{ amount_usd: -5 }, 'amount_usd'],
    'a negative text': [{ amount_usd: '-5' }, 'amount_usd'],
    'a plus': [{ amount_usd: '+5' }, 'amount_usd'],
    'a leading zero': [{ amount_usd: '05.00' }, 'amount_usd'],
    'no digit before the point': [{ amount_usd: '.50' }, 'amount_usd'],
    'no digit after the point': [{ amount_usd: '5.' }, 'amount_usd'],
    'a comma': [{ amount_usd: '5,00' }, 'amount_usd'],
    'a currency sign': [{ amount_usd: '$5' }, 'amount_usd'],
    'empty text': [{ amount_usd: '' }, 'amount_usd'],
    'NaN as text': [{ amount_usd: 'NaN' }, 'amount_usd'],
    'Infinity as text': [{ amount_usd: 'Infinity' }, 'amount_usd'],
    hex: [{ amount_usd: '0x10' }, 'amount_usd'],
    'other digits': [{ amount_usd: '٥' }, 'amount_usd'],
    'a cent over a million': [{ amount_usd: 1_000_000.01 }, 'amount_usd'],
    'a cent over a million in text': [{ amount_usd: '1000000.01' }, 'amount_usd'],
    'an endless amount': [{ amount_usd: '9'.repeat(200) }, 'amount_usd'],
    'a list': [{ amount_usd: [5] }, 'amount_usd'],
    'an object': [{ amount_usd: { value: 5 } }, 'amount_usd'],
    true: [{ amount_usd: true }, 'amount_usd'],
    'a wrong alias': [{ amount_usd: undefined, amount: '1,5' }, 'amount'],
    'neither email nor customer_id': [{ email: undefined }, 'email'],
    'an email that is none': [{ email: 'nobody' }, 'email'],
    'a number as email': [{ email: 7 }, 'email'],
    'a number as customer_id': [{ email: undefined, customer_id: 7 }, 'customer_id'],
    'an expiry of 299 seconds': [{ expires_in: 299 }, 'expires_in'],
    'an expiry of more than a week': [{ expires_in: 604_801 }, 'expires_in'],
    'half a second': [{ expires_in: 300.5 }, 'expires_in'],
    'an expiry as text': [{ expires_in: '300' }, 'expires_in'],
    'a script as success_url': [{ success_url: 'javascript:alert(1)' }, 'success_url'],
    'another protocol in a cancel_url': [{ cancel_url: 'ftp://shop.example/' }, 'cancel_url'],
    'a space in a success_url': [{ success_url: 'https://a b' }, 'success_url'],
    'a data URL as cancel_url': [{ cancel_url: 'data:text/html,x' }, 'cancel_url'],
    'a relative success_url': [{ success_url: '/done' }, 'success_url'],
    'a success_url without a scheme': [{ success_url: '//shop.example/' }, 'success_url'],
    'a success_url that the parser would repair': [{ success_url: 'https:shop.example' }, 'success_url'],
    'backslashes in a success_url': [{ success_url: 'https:\\\\shop.example' }, 'success_url'],
    'a line feed in a success_url': [{ success_url: 'https://shop.example/\nx' }, 'success_url'],
    'a password in a cancel_url': [{ cancel_url: 'https://shop.example:x@evil.example/' }, 'cancel_url'],
    'an unknown network': [{ network: 'eth' }, 'network'],
    'a currency that links do not take': [{ currency: 'BNB' }, 'currency'],
    'a description that is too long': [{ description: 'x'.repeat(501) }, 'description'],
    'a number as description': [{ description: 7 }, 'description'],
    'a list as metadata': [{ metadata: [] }, 'metadata'],
    'too much metadata': [{ metadata: { a: 'x'.repeat(17_000) } }, 'metadata'],
    'an external_id that is too long': [{ external_id: 'x'.repeat(256) }, 'external_id'],
  };
  for (const [name, [body, path]] of Object.entries(bad)) {
    it(`answers 400 for ${name}, naming the field, and makes nothing`, async () => {
      const before = await rows();
      const answer = await request({ email, amount_usd: 25, ...body });
      const { code, details } = answer.body;
      expect([answer.status, code, details?.[0].path], answer.text).to.deep.equal([
        400,
        'VALIDATION_ERROR',
        path,
      ]);
      expect(await rows()).to.equal(before);
    });
  }

  it('names everything that is missing at once', async () => {
    const { body } = await request({});
    expect(body['details'].map(({ path }: { path: string }) => path)).to.deep.equal(['amount_usd', 'email']);
  });

  it('takes the customer by id', async () => {
    const customer = (await call(`${api.url}/customers`, { key, body: { external_id: 'by-id' } })).body;
    const link = (await request({ customer_id: customer['id'], amount_usd: 5 })).body;
    expect(link).to.include({ customer_id: customer['id'], email: null });
    const addresses = customer['addresses'].map(({ address }: { address: string }) => address);
    const shown = (await look(link['token'])).body['methods'].map(
      ({ address }: { address: string }) => address,
    );
    expect(shown).to.deep.equal(addresses);
  });

  it('makes the customer of a new email, one for many links', async () => {
    const mine = 'many@example.com';
    const links = await Promise.all(Array.from({ length: 20 }, () => make({ email: mine })));
    expect(new Set(links.map((link) => link['customer_id'])).size).to.equal(1);
    const found = (await call(`${api.url}/customers?email=${mine}`, { key })).body;
    expect(found['data'].map(({ id }: { id: string }) => id)).to.deep.equal([links[0]?.['customer_id']]);
  });

  it('answers 404 for a customer that is unknown, malformed, of another merchant or of the other mode', async () => {
    const other = await api.newMerchant();
    const foreign = (await call(`${api.url}/customers`, { key: other.keys.test, body: { external_id: 'x' } }))
      .body['id'];
    const live = (await call(`${api.url}/customers`, { key: api.keys.live, body: { external_id: 'x' } }))
      .body['id'];
    const answers = await Promise.all(
      [UNKNOWN_ID, 'x', foreign, live].map((customer_id) => request({ customer_id, amount_usd: 5 })),
    );
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404]);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
  });

  it('looks at the credential first', async () => {
    expect((await call(`${api.url}/request-payment`, { body: { amount_usd: 'x' } })).status).to.equal(401);
    expect((await request({ amount_usd: 'x' }, 'sk_test_none')).status).to.equal(401);
  });
});
