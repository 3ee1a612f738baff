import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { Merchant } from '../../../src/db/entities/index.ts';
import { advancePaymentLink } from '../../../src/services/payment-links/advance.ts';
import { call } from '../../support/gateway.ts';
import { type EventStream, type EventStreamOptions, openEvents } from '../../support/http/event-stream.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';
import { statementsOf } from '../../support/statements.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;
/** A look at all links comes every second, and its answer takes a while. */
const NEWS_MS = 1_500;

const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('the stream of a payment link', function () {
  this.timeout(60_000);
  let shop: Shop;
  const open: EventStream[] = [];
  before(async () => {
    shop = await startShop({ poolSize: 4 });
  });
  afterEach(async () => {
    for (const stream of open.splice(0)) stream.close();
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
  const pageOf = async (link: { token: string }, query = '') =>
    (await call(`${shop.api.origin}/pay/${link.token}${query}`)).text;

  it('begins at once with what the page shows, title and all, for the network that was chosen', async () => {
    const link = await make();
    for (const query of ['', '?network=tron', '?network=__proto__']) {
      const stream = await follow(link, query);
      const { title, main, server_time, open: isOpen } = await stream.view('a first view', () => true);
      const page = await pageOf(link, query);
      expect(page).to.include(`>\n${main}\n</main>`).and.include(`<title>${title}</title>`);
      expect([server_time, isOpen]).to.deep.equal(['2026-11-20T09:00:00Z', true]);
      expect(stream.status).to.equal(200);
      expect(stream.headers).to.include({
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-accel-buffering': 'no',
      });
      expect(stream.text()).to.match(/^retry: \d+\n\n/);
    }
  });

  it('begins with nothing older than its page, also where others follow the link already', async () => {
    for (let round = 0; round < 5; round += 1) {
      const link = await make({ usd: '40' });
      const first = await follow(link);
      await first.view('a first view', () => true);
      for (const coins of ['1', '2']) await shop.pay(link.customer_id, { coins, state: 'detected' });
      const page = await pageOf(link);
      const { main } = await (await follow(link)).view('a first view', () => true);
      expect(main).to.include('37 USDT is still missing');
      expect(page).to.include(`>\n${main}\n</main>`);
      for (const stream of open.splice(0)) stream.close();
    }
  });

  it('begins with nothing older than its page by the clock alone: no way to pay once the time is over', async () => {
    const link = await make();
    await (await follow(link)).view('a first view', () => true);
    shop.pass(3_601);
    const page = await pageOf(link);
    const { main } = await (await follow(link)).view('a first view', () => true);
    shop.pass(-3_601);
    expect(main).not.to.include('data-part="address"');
    expect(page).to.include(`>\n${main}\n</main>`);
  });

  it('tells what became of money that came too late, while the link is still open', async () => {
    const link = await make();
    shop.pass(3_700);
    const stream = await follow(link);
    const deposit = await shop.pay(link.customer_id, { coins: '25' });
    await stream.view('late money', ({ main }) => /does not count for this link/.test(main));
    await shop.move(deposit, 'failed', 'REORGED');
    const { main } = await stream.view('its end', (view) => /id="late"(?!.*does not count)/s.test(view.main));
    expect(await pageOf(link)).to.include(`>\n${main}\n</main>`);
    shop.pass(-3_700);
  });

  it('shows by itself what comes too late, for an hour after the time of a link that was not paid', async () => {
    const link = await make({ customerId: await shop.customer('test'), mode: 'test' });
    shop.pass(3_700);
    await advancePaymentLink(shop.deps, { linkId: link.id });
    const stream = await follow(link);
    const { open: isOpen } = await stream.view('the expired link', ({ main }) =>
      /has expired.*Is something on its way already\?/s.test(main),
    );
    expect(isOpen).to.equal(true);
    await shop.pay(link.customer_id, { coins: '25' });
    await stream.view('late money', ({ main }) => /Your payment came too late.*id="late"/s.test(main));
    shop.pass(3_600);
    await eventually('the end of the stream', stream.isEnded, 2 * NEWS_MS);
    expect(stream.views().at(-1)).to.include({ open: false });
    const later = await follow(link);
    await later.view('the same', ({ main, open: isFollowed }) => !isFollowed && /too late/.test(main));
    shop.pass(-7_300);
  });

  it('tells of money within 1.5 s: seen, each confirmation that counts, paid; then it ends', async () => {
    const link = await make({ usd: '40', successUrl: 'https://shop.example/thanks' });
    const stream = await follow(link);
    await stream.view('a first view', () => true);
    const soon = async (what: string, text: RegExp) => {
      const from = performance.now();
      await stream.view(what, ({ main }) => text.test(main));
      expect(performance.now() - from, what).to.be.lessThan(NEWS_MS);
    };
    const deposit = await shop.pay(link.customer_id, { coins: '40', state: 'confirming' });
    await soon('money that was seen', /Payment seen/);
    await shop.scanned('bsc', shop.clock.now);
    await soon('a confirmation', /1 of 15 confirmations/);
    await shop.move(deposit, 'completed');
    await soon('the end', /The payment is confirmed/);
    await eventually('the end of the stream', stream.isEnded, NEWS_MS);
    expect(stream.views().at(-1)).to.include({ open: false, title: 'Paid – Shop' });
    expect(stream.views().map(({ main }) => main)).to.deep.equal([
      ...new Set(stream.views().map(({ main }) => main)),
    ]);
  });

  it('tells of what only the clock changes, and of another name of the merchant', async () => {
    const [link, other] = [await make(), await make()];
    const [stream, second] = [await follow(link), await follow(other)];
    await Promise.all([stream, second].map((one) => one.view('a first view', () => true)));
    const merchants = shop.deps.orm.em.fork();
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Another shop' });
    for (const one of [stream, second])
      await one.view('the name', ({ main, title }) => /Another shop/.test(main) && /Another/.test(title));
    await merchants.nativeUpdate(Merchant, { id: shop.merchantId }, { name: 'Shop' });
    shop.pass(3_601);
    const { main, open: isOpen } = await stream.view('the end of the time', (view) =>
      /time to pay is over/.test(view.main),
    );
    expect(isOpen).to.equal(true);
    expect(main).not.to.include('data-part="address"');
    const before = stream.views().length;
    shop.pass(-3_601);
    await eventually('the way to pay again, where the clock went back', () =>
      stream
        .views()
        .slice(before)
        .some((view) => view.main.includes('data-part="address"')),
    );
  });

  it('tells of the end of the time where there was no way to pay either', async () => {
    const { payments } = shop.deps.settings;
    const { watchedNetworks } = payments;
    Object.assign(payments, { watchedNetworks: [] });
    try {
      const stream = await follow(await make());
      await stream.view('no way', ({ main }) => /cannot be paid at the moment/.test(main));
      shop.pass(3_601);
      await stream.view('the end of the time', ({ main }) => /time to pay is over/.test(main));
      shop.pass(-3_601);
    } finally {
      Object.assign(payments, { watchedNetworks });
    }
  });

  it('costs one statement a second for all streams of a process, and none while nobody watches', async () => {
    const links = [await make(), await make(), await make()];
    const streams = await Promise.all(
      [...links, ...links].map((link, index) => follow(link, index < 3 ? '' : '?network=tron')),
    );
    await Promise.all(streams.map((one) => one.view('a first view', () => true)));
    // What the opening of streams left to be written, like the counts of the limits, is not theirs.
    await passed(500);
    const sent = await statementsOf(shop.deps.orm);
    await passed(3_200);
    expect(sent.filter((text) => !text.includes('from unnest'))).to.deep.equal([]);
    expect(sent).to.have.length.within(2, 4);
    const [link] = links;
    sent.length = 0;
    await shop.pay(link?.customer_id ?? '', { coins: '1', state: 'detected' });
    await streams[3]?.view('money', ({ main }) => /Payment seen/.test(main));
    await streams[0]?.view('money', ({ main }) => /Payment seen/.test(main));
    const reads = sent.filter((text) => /from "payment_links" .*"token" (=|in) /.test(text));
    expect(reads, 'read once for all of its streams').to.have.length(1);
    for (const one of streams) one.close();
    await passed(300);
    sent.length = 0;
    await passed(2_500);
    expect(sent).to.deep.equal([]);
  });

  it('holds no connection of the database between two looks', async () => {
    const links = await Promise.all(Array.from({ length: 10 }, () => make()));
    const streams = await Promise.all(links.map((link) => follow(link)));
    await Promise.all(streams.map((one) => one.view('a first view', () => true)));
    const pool = await shop.deps.orm.em.getConnection().getNativeClient();
    let held = 0;
    for (let tries = 0; tries < 100; tries += 1) {
      if (pool.totalCount > pool.idleCount) held += 1;
      await passed(20);
    }
    expect(held).to.be.lessThan(10);
  });

  it('is opened three times by one address for one link, and again when one of them has ended', async () => {
    const [link, other] = [await make(), await make()];
    const three = await Promise.all([follow(link), follow(link), follow(link, '?network=tron')]);
    const fourth = await follow(link);
    expect([fourth.status, fourth.headers['retry-after']]).to.deep.equal([429, '15']);
    expect((await follow(other)).status).to.equal(200);
    expect((await follow(link, '', { from: '127.0.0.2' })).status).to.equal(200);
    const forged = await follow(link, '', { headers: { 'X-Forwarded-For': '192.0.2.7' } });
    expect(forged.status).to.equal(429);
    three[0]?.close();
    await eventually('a place', async () => (await follow(link)).status === 200, 2_000);
  });

  it('is the same 404 page as everywhere for a token that is unknown or cannot be', async () => {
    const page = await call(`${shop.api.origin}/pay/${UNKNOWN_TOKEN}`);
    const { token } = await make();
    const wrong = [
      '',
      'x',
      `${token}x`,
      UNKNOWN_TOKEN,
      token.toUpperCase(),
      '%00',
      `${token}/x`,
      'a'.repeat(8_000),
    ];
    for (const path of wrong.flatMap((one) => [`${one}/live`, `${one}/live?once=1`, `${one}/live/`])) {
      const { status, text } = await call(`${shop.api.origin}/pay/${path}`);
      expect([status, text], path.slice(0, 60)).to.deep.equal([404, page.text]);
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await call(addressOf({ token }), { method });
      expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('gives a single rendering to who cannot have a stream, and none where it is known already', async () => {
    const link = await make();
    const url = addressOf(link, '?network=tron&once=1');
    const first = await call(url);
    const page = await pageOf(link, '?network=tron');
    expect(first.status).to.equal(200);
    expect(first.body).to.include({ open: true, server_time: '2026-11-20T09:00:00Z' });
    expect(page).to.include(`>\n${first.body['main']}\n</main>`);
    const tag = first.headers.get('etag') ?? '';
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
    const headers = {
      'Last-Event-ID': 'x'.repeat(4_000),
      Accept: 'image/png',
      Origin: 'https://evil.example',
      Cookie: 'ch_session=x',
    };
    const stream = await follow(link, `?network[]=tron&lang=${'y'.repeat(4_000)}&%E0%A4%A`, { headers });
    const { main } = await stream.view('a first view', () => true);
    expect(await pageOf(link)).to.include(main);
    expect(stream.headers['access-control-allow-origin']).to.equal(undefined);
    expect((await follow(link, `?${'x'.repeat(20_000)}`)).status).to.equal(431);
    await call(addressOf(link, '?once=1'));
    expect(JSON.stringify(shop.api.lines)).not.to.include(link.token);
    expect(shop.api.lines.map(({ fields }) => fields['route'])).to.include('/pay/:token/live');
  });
});
