import { expect } from 'chai';
import type { Context } from 'koa';
import { createGuards } from '../../../src/api/requests/rate-limits.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { call, UNKNOWN_ID } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;

describe('the form that simulates a payment', function () {
  this.timeout(30_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop?.stop());

  const make = async (usd = '25', more: { network?: Network; mode?: 'live' } = {}) => {
    const { mode = 'test', network } = more;
    return await shop.link({ customerId: await shop.customer(mode), mode, usd, network });
  };
  type Form = Record<string, string>;
  const post = async (
    link: { token: string },
    form: Form | string,
    { query = '', headers = {}, at = shop }: { query?: string; headers?: Form; at?: Shop } = {},
  ) => {
    const response = await fetch(`${at.api.origin}/pay/${link.token}/simulate${query}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Origin: at.api.origin, ...headers },
      body: typeof form === 'string' ? form : new URLSearchParams(form),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  /** The key that the form of the page carries now. */
  const keyOf = async ({ token }: { token: string }) => {
    const { text } = await call(`${shop.api.origin}/pay/${token}`);
    return /name="key" value="([^"]+)"/.exec(text)?.[1] ?? expect.fail('the page has no form');
  };
  const transactions = async ({ token }: { token: string }) =>
    (await call(`${shop.api.url}/payments/${token}`)).body['transactions'] as { amount: string }[];
  const statusOf = async ({ token }: { token: string }) =>
    (await call(`${shop.api.url}/payments/${token}`)).body['status'];

  it('brings all of what is open, half of it or twice as much, exactly, and goes back to the page', async () => {
    for (const [share, usd, network, amount, status] of [
      ['full', '25.01', 'bsc', '25.01', 'completed'],
      ['half', '25.01', 'bsc', '12.505', 'partially_paid'],
      ['half', '25.01', 'tron', '12.505', 'partially_paid'],
      ['double', '25.01', 'tron', '50.02', 'completed'],
    ] as const) {
      const link = await make(usd, { network });
      const key = await keyOf(link);
      const answer = await post(link, { share, key }, { query: '?network=tron&lang=de' });
      expect(answer.status).to.equal(303);
      const location = new URL(answer.headers.get('location') ?? '', `${shop.api.origin}/pay/x/simulate`);
      expect(location.pathname + location.search).to.equal(`/pay/${link.token}?network=tron&lang=de`);
      expect(await transactions(link)).to.have.length(1);
      expect((await transactions(link))[0]).to.include({ amount, network });
      expect(await statusOf(link)).to.equal(status);
    }
  });

  it('does it once for a form that is sent twice, at once or with another button, and never all of it twice', async () => {
    const link = await make('10');
    const key = await keyOf(link);
    const answers = await Promise.all(
      ['half', 'half', 'full', 'half', 'double'].map((share) => post(link, { share, key })),
    );
    answers.push(await post(link, { share: 'half', key }));
    expect(await transactions(link)).to.have.length(1);
    const other = await make('10');
    await post(other, { share: 'half', key: await keyOf(other) }, { query: '?network=tron' });
    shop.pass(1);
    const made = ['bsc', 'bsc', 'tron'].map((network, index) => ({
      share: 'full',
      key: `made-up-${index}`,
      network,
    }));
    answers.push(...(await Promise.all(made.map((form) => post(other, form)))));
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 303));
    expect((await transactions(other)).map(({ amount }) => amount)).to.deep.equal(['5', '5']);
    expect(await statusOf(other)).to.equal('completed');
  });

  it('is the 404 page for live links and unknown ones, and changes nothing', async () => {
    const live = await make('25', { mode: 'live' });
    const page = await call(`${shop.api.origin}/pay/${UNKNOWN_TOKEN}`);
    for (const token of [live.token, UNKNOWN_TOKEN, 'x', '', UNKNOWN_ID, `${live.token}%00`]) {
      const { status, text } = await post({ token }, { share: 'full', key: 'k' });
      expect([status, text]).to.deep.equal([404, page.text]);
    }
    expect(await transactions(live)).to.deep.equal([]);
    const { text } = await call(`${shop.api.origin}/pay/${live.token}`);
    expect(text).not.to.include('<form').and.not.include('imulate');
  });

  it('has a share of its own for each page, and says in words when it is used up', async () => {
    const link = await make();
    const [key, other] = [await keyOf(link), await make()];
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => post(link, { share: 'half', key }, { query: '?lang=de' })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    // Ten at once; what comes back in five seconds each is a few more on the slowest machine.
    expect(refused).to.have.length.within(1, 20);
    expect(Number(refused[0]?.headers.get('retry-after'))).to.be.within(1, 5);
    expect(refused[0]?.text).to.include('zu viele Versuche');
    expect((await post(other, { share: 'half', key: await keyOf(other) })).status).to.equal(303);
  });

  it('has a share for all pages of a merchant, a hundred a day, and takes from no other', async () => {
    const { countSimulation, countTest } = createGuards(shop.deps);
    const told: Record<string, unknown> = {};
    const ctx = { set: (headers: object) => Object.assign(told, headers) } as unknown as Context;
    const merchantId = UNKNOWN_ID;
    for (let number = 0; number < 100; number += 1)
      await countSimulation(ctx, { merchantId, token: `page ${number}` });
    const over = await countSimulation(ctx, { merchantId, token: 'one more' }).catch((error) => error);
    expect(over).to.include({ status: 429, code: 'DAILY_QUOTA_REACHED' });
    await countSimulation(ctx, { merchantId: shop.merchantId, token: 'page of another' });
    await countTest(ctx, { merchantId, mode: 'test' }, undefined);
    const at = await startShop({ pay: { countSimulation: () => Promise.reject(over) } });
    const own = await at.link({ customerId: await at.customer('test'), mode: 'test' });
    const { status, text } = await post(own, { share: 'full', key: 'k' }, { at });
    await at.stop();
    expect([status, text.includes('Today no more payments can be simulated')]).to.deep.equal([429, true]);
  });

  it('is taken from our own page alone, and refused with a page where it is no such form', async () => {
    const link = await make();
    const key = await keyOf(link);
    for (const headers of [
      { Origin: 'https://evil.example' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ] as Form[]) {
      const { status, headers: told } = await post(link, { share: 'full', key }, { headers });
      expect([status, told.get('content-type')]).to.deep.equal([403, 'text/html; charset=utf-8']);
    }
    for (const form of [
      '',
      { share: 'ALL', key },
      { share: 'full', key: 'x'.repeat(65) },
      `share[]=all&key=${key}`,
    ]) {
      const { status, text } = await post(link, form);
      expect([status, text.includes('Back to the payment')], JSON.stringify(form)).to.deep.equal([400, true]);
    }
    expect((await post(link, { share: 'full', key, more: 'x'.repeat(9_000) })).status).to.equal(413);
    const typed = { headers: { 'Content-Type': 'text/xml' } };
    expect((await post(link, '<x/>', typed)).status).to.equal(415);
    expect(await transactions(link)).to.deep.equal([]);
  });
});
