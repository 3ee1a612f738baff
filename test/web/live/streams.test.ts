import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { Merchant } from '../../../src/db/entities/index.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { call } from '../../support/gateway.ts';
import { type EventStream, type EventStreamOptions, openEvents } from '../../support/http/event-stream.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;
const TIMES = { lookEveryMs: 100 };

describe('the stream of a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  const ending = new AbortController();
  const open: EventStream[] = [];
  before(async () => {
    shop = await startShop({ poolSize: 4, pay: { times: TIMES, signal: ending.signal } });
  });
  afterEach(async () => {
    for (const stream of open.splice(0)) stream.close();
    shop.clock.now = new Date('2026-11-20T09:00:00Z');
  });
  after(() => shop?.stop());

  const addressOf = ({ token }: { token: string }, query = '') =>
    `${shop.api.origin}/pay/${token}/live${query}`;
  const follow = async (link: { token: string }, query = '', options: EventStreamOptions = {}) => {
    const stream = await openEvents(addressOf(link, query), options);
    open.push(stream);
    return stream;
  };
  const make = async (more: Parameters<Shop['link']>[0] = {}) =>
    await shop.link({ customerId: await shop.customer(), ...more });
  const first = async (stream: EventStream) => await stream.view('a first view', () => true);
  const pageOf = async (link: { token: string }, query = '') =>
    (await call(`${shop.api.origin}/pay/${link.token}${query}`)).text;

  it('begins at once with what the page shows, title and all, for the network that was chosen', async () => {
    const link = await make();
    for (const query of ['', '?network=tron', '?network=__proto__']) {
      const stream = await follow(link, query);
      const { title, main, server_time, open: isOpen } = await first(stream);
      const page = await pageOf(link, query);
      expect(page).to.include(`>\n${main}\n</main>`).and.include(`<title>${title}</title>`);
      expect([server_time, isOpen, stream.status]).to.deep.equal(['2026-11-20T09:00:00Z', true, 200]);
      expect(stream.headers).to.include({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-accel-buffering': 'no',
      });
      expect(stream.text()).to.match(/^retry: \d+\n\n/);
    }
  });

  it('begins with nothing older than its page, by what happened and by the clock, also where others follow already', async () => {
    for (let round = 0; round < 2; round += 1) {
      const link = await make({ usd: '40' });
      await first(await follow(link));
      for (const coins of ['1', '2']) await shop.pay(link.customer_id, { coins, state: 'detected' });
      const paid = await pageOf(link);
      const { main } = await first(await follow(link));
      expect(main).to.include('37 USDT is still missing');
      expect(paid).to.include(`>\n${main}\n</main>`);
      shop.pass(3_601);
      const over = await pageOf(link);
      const later = await first(await follow(link));
      shop.pass(-3_601);
      expect(later.main).not.to.include('data-part="address"');
      expect(over).to.include(`>\n${later.main}\n</main>`);
    }
  });

  it('tells of money: seen, each confirmation that counts, paid; then it ends', async () => {
    const link = await make({ usd: '40', successUrl: 'https://shop.example/thanks' });
    const stream = await follow(link);
    await first(stream);
    const tells = (text: RegExp) => stream.view(`${text}`, ({ main }) => text.test(main));
    const deposit = await shop.pay(link.customer_id, { coins: '40', state: 'confirming' });
    await tells(/Payment seen/);
    await shop.scanned('bsc', shop.clock.now);
    await tells(/1 of 15 confirmations/);
    await shop.move(deposit, 'completed');
    await tells(/The payment is confirmed/);
    await eventually('the end of the stream', stream.isEnded);
    expect(stream.views().at(-1)).to.include({ open: false, title: 'Paid – Shop' });
    const mains = stream.views().map(({ main }) => main);
    expect(mains).to.deep.equal([...new Set(mains)]);
  });

  it('tells what became of money that came too late, also for an hour after the time of a link that was not paid', async () => {
    const [link, expired] = [
      await make(),
      await make({ customerId: await shop.customer('test'), mode: 'test' }),
    ];
    shop.pass(3_700);
    const stream = await follow(link);
    const deposit = await shop.pay(link.customer_id, { coins: '25' });
    await stream.view('late money', ({ main }) => /does not count for this link/.test(main));
    await shop.move(deposit, 'failed', 'REORGED');
    const { main } = await stream.view('its end', (view) => /id="late"(?!.*does not count)/s.test(view.main));
    expect(await pageOf(link)).to.include(`>\n${main}\n</main>`);
    await advancePaymentLink(shop.deps, { linkId: expired.id });
    const second = await follow(expired);
    const { open: isOpen } = await second.view('the expired link', (view) =>
      /has expired.*Is something on its way already\?/s.test(view.main),
    );
    expect(isOpen).to.equal(true);
    await shop.pay(expired.customer_id, { coins: '25' });
    await second.view('late money', (view) =>
      /Your payment was confirmed too late.*id="late"/s.test(view.main),
    );
    shop.pass(3_600);
    await eventually('the end of the stream', second.isEnded);
    expect(second.views().at(-1)).to.include({ open: false });
  });

  it('tells of what only the clock changes, and of another name of the merchant', async () => {
    const [link, other] = [await make(), await make()];
    const [stream, second] = [await follow(link), await follow(other)];
    await Promise.all([stream, second].map(first));
    const merchants = shop.deps.orm.em.fork();
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Another shop' });
    for (const one of [stream, second])
      await one.view('the name', ({ main, title }) => /Another shop/.test(main) && /Another/.test(title));
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Shop' });
    shop.pass(3_601);
    const over = await stream.view('the end of the time', ({ main }) => /time to pay is over/.test(main));
    expect(over.open).to.equal(true);
    expect(over.main).not.to.include('data-part="address"');
    shop.pass(-3_601);
  });

  it('is opened three times by one address for one link, and again when one of them has ended', async () => {
    const [link, other] = [await make(), await make()];
    const three = await Promise.all([follow(link), follow(link), follow(link, '?network=tron')]);
    const fourth = await follow(link);
    expect([fourth.status, fourth.headers['retry-after']]).to.deep.equal([429, '15']);
    const forged = await follow(link, '', { headers: { 'X-Forwarded-For': '192.0.2.7' } });
    const elsewhere = await follow(link, '', { from: '127.0.0.2' });
    expect([forged.status, elsewhere.status, (await follow(other)).status]).to.deep.equal([429, 200, 200]);
    three[0]?.close();
    await eventually('a place', async () => (await follow(link)).status === 200);
  });

  it('is the same 404 page as everywhere for a token that is unknown or cannot be', async () => {
    const page = await call(`${shop.api.origin}/pay/${UNKNOWN_TOKEN}`);
    const { token } = await make();
    const wrong = ['', 'x', `${token}x`, UNKNOWN_TOKEN, token.toUpperCase(), '%00', `${token}/x`];
    for (const path of wrong.flatMap((one) => [`${one}/live`, `${one}/live?once=1`, `${one}/live/`])) {
      const { status, text } = await call(`${shop.api.origin}/pay/${path}`);
      expect([status, text], path.slice(0, 60)).to.deep.equal([404, page.text]);
    }
    const { status, headers } = await call(addressOf({ token }), { method: 'POST' });
    expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
  });

  it('gives a single rendering to who cannot have a stream, and none where it is known already', async () => {
    const link = await make();
    const url = addressOf(link, '?network=tron&once=1');
    const single = await call(url);
    const page = await pageOf(link, '?network=tron');
    expect(single.status).to.equal(200);
    expect(single.body).to.include({ open: true, server_time: '2026-11-20T09:00:00Z' });
    expect(page).to.include(`>\n${single.body['main']}\n</main>`);
    const tag = single.headers.get('etag') ?? '';
    for (const known of [tag, `W/${tag}`]) {
      const headers = { 'If-None-Match': known, 'Cache-Control': 'no-cache' };
      const again = await call(url, { headers });
      expect([again.status, again.text]).to.deep.equal([304, '']);
    }
    const head = await call(addressOf(link, '?network=tron'), { method: 'HEAD' });
    expect([head.status, head.text, head.headers.get('etag')]).to.deep.equal([200, '', tag]);
    await shop.pay(link.customer_id, { coins: '1', state: 'detected' });
    expect((await call(url, { headers: { 'If-None-Match': tag } })).status).to.equal(200);
  });

  it('takes no notice of what else the request says, and keeps the token out of the log', async () => {
    const link = await make();
    const headers = { 'Last-Event-ID': 'x'.repeat(4_000), Accept: 'image/png', Cookie: 'ch_session=x' };
    const origin = { Origin: 'https://evil.example' };
    const query = `?network[]=tron&lang=${'y'.repeat(4_000)}&%E0%A4%A`;
    const stream = await follow(link, query, { headers: { ...headers, ...origin } });
    expect(await pageOf(link)).to.include((await first(stream)).main);
    expect(stream.headers['access-control-allow-origin']).to.equal(undefined);
    expect((await follow(link, `?${'x'.repeat(20_000)}`)).status).to.equal(431);
    await call(addressOf(link, '?once=1'));
    expect(JSON.stringify(shop.api.lines)).not.to.include(link.token);
    expect(shop.api.lines.map(({ fields }) => fields['route'])).to.include('/pay/:token/live');
  });

  it('ends at once when the process shuts down, and none begins', async () => {
    const link = await make();
    const streams = await Promise.all(['127.0.1.1', '127.0.1.2'].map((from) => follow(link, '', { from })));
    await Promise.all(streams.map(first));
    ending.abort();
    await eventually('the ends', () => streams.every((one) => one.isEnded()));
    expect(streams.map((one) => one.text().endsWith('\n\n'))).to.deep.equal([true, true]);
    expect((await follow(link)).status).to.equal(503);
  });
});
