import { expect } from 'chai';
import type { Price } from '../../../src/chains/reader.ts';
import type { Currency } from '../../../src/domain/assets.ts';
import { call, startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';

const WEI = '0.000000000000000001';

type Row = Record<string, unknown>;

describe('balances over HTTP', () => {
  let api: TestApi;
  let shop: TestMerchant;
  let customer: string;
  const rates: Partial<Record<Currency, bigint>> = {};
  let feed: 'answers' | 'fails' | 'hangs' = 'answers';

  before(async () => {
    const price = async (currency: Currency, signal: AbortSignal): Promise<Price | undefined> => {
      if (feed === 'fails') throw new Error('the feed is away');
      if (feed === 'hangs')
        return await new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      const usd8 = rates[currency];
      return usd8 === undefined ? undefined : { usd8, source: 'test', at: new Date(), stale: false };
    };
    api = await startTestApi({ deps: { prices: { price } } });
  });
  beforeEach(async () => {
    feed = 'answers';
    for (const currency of ['BNB', 'TRX', 'USDT'] as const) delete rates[currency];
    shop = await api.newMerchant();
    customer = (await call(`${api.url}/customers`, { key: shop.keys.test, body: { external_id: 'payer' } }))
      .body['id'];
  });
  after(() => api.stop());

  const simulate = async (body: object) => {
    const answer = await call(`${api.url}/test/simulate-deposit`, {
      key: shop.keys.test,
      body: { customer_id: customer, ...body },
    });
    expect(answer.status, answer.text).to.equal(201);
    return answer.body;
  };
  const balance = async (key = shop.keys.test) => {
    const answer = await call(`${api.url}/balance`, { key });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body;
  };
  const rows = async (query = '', key = shop.keys.test) =>
    await call(`${api.url}/merchant-balances${query}`, { key });
  const of = (body: Row, currency: Currency): Row =>
    (body['balances'] as Row[]).find((row) => row['currency'] === currency) ?? {};
  const dollars = (body: Row) =>
    ['total_usd', 'available_usd', 'pending_usd', 'settled_usd'].map((name) => body[name]);

  it('are zero for every currency and asset in a fixed order while nothing has come', async () => {
    for (const mode of ['live', 'test'] as const) {
      const body = await balance(shop.keys[mode]);
      const zero = { amount: '0', amount_usd: 0, available: '0', pending: '0', settled: '0' };
      const { updated_at: updatedAt, ...rest } = body;
      expect(updatedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const is_live = mode === 'live';
      const sums = { total_usd: 0, available_usd: 0, pending_usd: 0, settled_usd: 0 };
      const balances = [
        { currency: 'BNB', ...zero, networks: ['bsc'] },
        { currency: 'TRX', ...zero, networks: ['tron'] },
        { currency: 'USDT', ...zero, networks: ['bsc', 'tron'] },
      ];
      expect(rest).to.deep.equal({ is_live, currency: 'USD', ...sums, balances });
      const list = (await rows('', shop.keys[mode])).body;
      expect(list['pagination']).to.deep.equal({ page: 1, limit: 25, total: 4, total_pages: 1 });
      const names = ['network', 'currency', 'contract_address', 'decimals', 'rate_usd'];
      expect((list['data'] as Row[]).map((row) => names.map((name) => row[name]))).to.deep.equal([
        ['bsc', 'BNB', null, 18, null],
        ['bsc', 'USDT', '0x55d398326f99059fF775485246999027B3197955', 18, 1],
        ['tron', 'TRX', null, 6, null],
        ['tron', 'USDT', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', 6, 1],
      ]);
      for (const row of list['data'] as Row[])
        expect(row).to.include({ ...zero, is_live, updated_at: updatedAt });
    }
  });

  it('tell pending, available and settled apart, and hold what failed back', async () => {
    for (const [amount, outcome] of [
      ['1', 'detected'],
      ['2', 'confirming'],
      ['4', 'completed'],
      ['16', 'settled'],
      ['32', 'failed'],
      ['64', 'reorged'],
    ])
      await simulate({ amount, outcome });
    await simulate({ amount: '8', outcome: 'completed', network: 'tron' });
    const body = await balance();
    const all = { amount: '15', amount_usd: 15, available: '12', pending: '3', settled: '16' };
    expect(of(body, 'USDT')).to.include(all);
    expect(dollars(body)).to.deep.equal([15, 12, 3, 16]);
    const data = (await rows()).body['data'] as Row[];
    const bsc = { network: 'bsc', amount: '7', amount_usd: 7, available: '4', pending: '3', settled: '16' };
    const tron = { network: 'tron', amount: '8', amount_usd: 8, available: '8', pending: '0', settled: '0' };
    expect(data[1]).to.include({ ...bsc, rate_usd: 1 });
    expect(data[3]).to.include(tron);
    expect(dollars(await balance(shop.keys.live)), 'the other mode').to.deep.equal([0, 0, 0, 0]);
    expect(dollars(await balance(api.keys.test)), 'another merchant').to.deep.equal([0, 0, 0, 0]);
  });

  it('add networks up to the last unit, and round dollars half up so that they add up', async () => {
    rates.BNB = 60_012_345_678n;
    rates.USDT = 99_990_000n;
    await simulate({ amount: WEI });
    await simulate({ amount: '0.000001', network: 'tron' });
    await simulate({ amount: '123456789012.123456789012345678' });
    await simulate({ amount: '0.333333333333333333', currency: 'BNB' });
    await simulate({ amount: '0.111111111111111111', currency: 'BNB', outcome: 'detected' });
    await simulate({ amount: '0.004999', network: 'tron', outcome: 'confirming' });
    await simulate({ amount: '0.005001', outcome: 'settled' });
    const body = await balance();
    const coins = of(body, 'BNB');
    const [amount, available] = ['0.444444444444444444', '0.333333333333333333'];
    expect(coins).to.include({ amount, available, amount_usd: 266.72 });
    const dollarCoins = { amount: '123456789012.128456789012345679', amount_usd: 123444443333.23 };
    expect(of(body, 'USDT')).to.include({ ...dollarCoins, pending: '0.004999', settled: '0.005001' });
    expect(body['settled_usd'], '0.0050005 is half a cent and a little').to.equal(0.01);
    const cents = (value: unknown) => Math.round(Number(value) * 100);
    expect(cents(body['total_usd'])).to.equal(
      cents(coins['amount_usd']) + cents(of(body, 'USDT')['amount_usd']),
    );
    expect(cents(body['total_usd'])).to.equal(cents(body['available_usd']) + cents(body['pending_usd']));
    expect((await rows()).body['data'][0]).to.include({ rate_usd: 600.12345678 });
  });

  it('do not invent a price, and leave the money out of the sums until there is one', async () => {
    await simulate({ amount: '2', currency: 'BNB', outcome: 'detected' });
    await simulate({ amount: '5' });
    const unknown = await balance();
    expect(of(unknown, 'BNB')).to.include({ amount: '2', amount_usd: null, pending: '2' });
    expect(of(unknown, 'TRX')).to.include({ amount: '0', amount_usd: 0 });
    expect(dollars(unknown)).to.deep.equal([5, 5, 0, 0]);
    expect((await rows()).body['data'][0]).to.include({ amount_usd: null, rate_usd: null });
    rates.BNB = 60_000_000_000n;
    expect(dollars(await balance())).to.deep.equal([1205, 5, 1200, 0]);
  });

  it('value coins by the newest frozen rate and USDT by a dollar while the price source fails or hangs', async () => {
    for (const rate of [50_000_000_000n, 60_000_000_000n]) {
      rates.BNB = rate;
      await simulate({ amount: '1', currency: 'BNB' });
    }
    rates.BNB = 70_000_000_000n;
    await simulate({ amount: '3' });
    expect(dollars(await balance())).to.deep.equal([1403, 1403, 0, 0]);
    for (feed of ['fails', 'hangs'] as const)
      expect(dollars(await balance()), feed).to.deep.equal([1203, 1203, 0, 0]);
  });
});
