import { expect } from 'chai';
import type { Mode } from '../../../src/domain/assets.ts';
import { eraseCustomer } from '../../../src/services/merchants/erasure.ts';
import { call } from '../../support/gateway.ts';
import { type Shop, startShop } from '../../support/payment-shop.ts';

const PUBLIC_URL = 'https://pay.example/gateway';
type Link = { readonly customer_id: string; readonly token: string; readonly url: string };

describe('the page of a customer’s addresses over HTTP', function () {
  this.timeout(30_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop({ publicUrl: PUBLIC_URL });
  });
  after(() => shop?.stop());

  const asked = (id: string, more: { method?: string; mode?: Mode; key?: string } = {}) => {
    const { method = 'GET', mode = 'live', key = shop.api.keys[mode] } = more;
    return call(`${shop.api.url}/customers/${id}/address-page`, { method, key });
  };
  const linkOf = async (id: string, mode: Mode = 'live') => {
    const { status, body } = await asked(id, { mode });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body as Link;
  };
  const make = async (mode: Mode = 'live') => {
    const id = await shop.customer(mode);
    return { id, ...(await linkOf(id, mode)) };
  };
  const pageAt = (path: string, input: { method?: string; headers?: Record<string, string> } = {}) =>
    call(`${shop.api.origin}/address/${path}`, input);

  it('has one address for each customer that nobody guesses, below the public path, until it is replaced', async () => {
    const { id, token, url } = await make();
    expect(url).to.equal(`${PUBLIC_URL}/address/${token}`);
    expect(await linkOf(id)).to.deep.equal({ customer_id: id, token, url });
    expect(token)
      .to.match(/^ap_[A-Za-z0-9]{32}$/)
      .and.not.equal((await make()).token);
    const moved = await asked(id, { method: 'POST' });
    expect(moved.status).to.equal(201);
    expect(moved.body).to.deep.equal(await linkOf(id));
    expect(moved.body['token']).not.to.equal(token);
    expect([(await pageAt(token)).status, (await pageAt(moved.body['token'])).status]).to.deep.equal([
      404, 200,
    ]);
  });

  it('is made where there is none, and made anew where no key opens its address any more', async () => {
    const { id, token } = await make();
    for (const [lost, says] of [
      ["page_token_sealed = '\\x01'", 'can be told no more'],
      ['page_token_sealed = null, page_token_hash = null', 'has no page yet'],
    ]) {
      await shop.sql(`update customers set ${lost} where id = ?`, [id]);
      const { status, body } = await asked(id);
      expect([status, body['code']]).to.deep.equal([404, 'NOT_FOUND']);
      expect(JSON.stringify(body)).to.include(says).and.include(`POST /customers/${id}/address-page`);
      const made = await asked(id, { method: 'POST' });
      expect([made.status, made.body]).to.deep.equal([201, await linkOf(id)]);
      expect((await pageAt(token)).status).to.equal(404);
    }
  });

  it('leaves no trace in caches, referrers, search engines, frames and the log', async () => {
    const { token } = await make();
    const { headers, text } = await pageAt(token);
    expect(Object.fromEntries(headers)).to.include({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    });
    expect(headers.get('content-security-policy'))
      .to.match(/^default-src 'none'/)
      .and.include("frame-ancestors 'none'");
    expect(text).to.include('<meta name="robots" content="noindex, nofollow">');
    expect(JSON.stringify(shop.api.lines)).not.to.include(token);
    expect(shop.api.lines.map(({ fields }) => fields['route'])).to.include('/address/:token');
  });

  it('names nothing of the customer or of the merchant but its name', async () => {
    const { body } = await call(`${shop.api.url}/customers`, {
      method: 'POST',
      key: shop.api.keys.live,
      body: {
        external_id: 'secret-id',
        email: 'secret@example.com',
        name: 'secret name',
        metadata: { key: 'secret member' },
      },
    });
    await shop.pay(body['id'], { coins: '5' });
    const { token } = await linkOf(body['id']);
    const { status, text } = await pageAt(token);
    expect(status).to.equal(200);
    expect(text).to.include('Shop').and.include('5 USDT').and.include('Confirmed');
    for (const secret of ['secret', body['id'], shop.merchantId, token]) expect(text).not.to.include(secret);
  });

  it('ends for those who watch it, too, when its address is replaced', async () => {
    const { id, token } = await make();
    const { body } = await fetch(`${shop.api.origin}/address/${token}/live`);
    const ended = (async () => {
      for await (const chunk of body ?? []) expect(chunk.length).to.be.greaterThan(0);
    })();
    await asked(id, { method: 'POST' });
    await ended;
    expect((await pageAt(`${token}/live`)).status).to.equal(404);
  });

  it('ends with the customer’s erasure, for good', async () => {
    const { id, token } = await make();
    await shop.pay(id, { coins: '5' });
    await eraseCustomer(shop.deps, { customerId: id, reason: 'asked for it' });
    expect((await pageAt(token)).status).to.equal(404);
    const { status, body } = await asked(id);
    expect([status, body['code']]).to.deep.equal([404, 'NOT_FOUND']);
    expect(JSON.stringify(body)).to.include('was erased');
  });

  it('offers only networks that somebody watches, in live mode', async () => {
    const { token } = await make();
    const before = shop.deps.settings.payments.watchedNetworks;
    try {
      Object.assign(shop.deps.settings.payments, { watchedNetworks: ['tron'] });
      const { text } = await pageAt(`${token}?network=bsc`);
      expect(text).to.include('tron:T').and.not.include('BNB Chain');
      Object.assign(shop.deps.settings.payments, { watchedNetworks: [] });
      const none = (await pageAt(token)).text;
      expect(none)
        .to.include('nobody would see it')
        .and.not.match(/<svg|data-part="address"/);
    } finally {
      Object.assign(shop.deps.settings.payments, { watchedNetworks: before });
    }
  });

  it('says what is too little, of each currency', async () => {
    const { token } = await make();
    const minimum = shop.deps.settings.minDepositUnits as Map<string, bigint>;
    const dust = shop.deps.settings.dustFloorUnits as Map<string, bigint>;
    const kept = [new Map(minimum), new Map(dust)] as const;
    try {
      minimum.set('USDT.bsc', 10n ** 18n);
      dust.set('USDT.bsc', 1n).set('BNB.bsc', 10n ** 12n);
      expect((await pageAt(token)).text).to.include('at least 1 USDT or 0.000001 BNB: less is not credited');
      for (const map of [minimum, dust]) map.clear();
      expect((await pageAt(token)).text).not.to.include('less is not credited');
    } finally {
      for (const [name, units] of kept[0]) minimum.set(name, units);
      for (const [name, units] of kept[1]) dust.set(name, units);
    }
  });

  it('simulates a deposit of a test customer alone, once for each state of the page', async () => {
    const { token } = await make('test');
    const live = await make();
    const post = (to: string, form: Record<string, string>, query = '') =>
      fetch(`${shop.api.origin}/address/${to}/simulate${query}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { Origin: 'https://pay.example', 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(form),
      });
    const { text } = await pageAt(token);
    expect(text).to.include('Test mode: no real money').and.include('Receive 10 USDT');
    expect((await pageAt(live.token)).text).not.to.include('Receive 10 USDT');
    const key = /name="key" value="([^"]+)"/.exec(text)?.[1] ?? '';
    const form = { key, network: 'tron', currency: 'USDT' };
    const answers = [await post(token, form, '?lang=de'), await post(token, form)];
    expect(answers.map(({ status }) => status)).to.deep.equal([303, 303]);
    expect(answers[0]?.headers.get('location')).to.equal(`../${token}?lang=de`);
    const after = (await pageAt(token)).text;
    expect(after.match(/<div>10 USDT on Tron/g)).to.have.length(1);
    expect(/name="key" value="([^"]+)"/.exec(after)?.[1]).not.to.equal(key);
    expect((await post(live.token, form)).status).to.equal(404);
    const wrong = await post(token, { ...form, network: 'bsc', currency: 'TRX' }, '?lang=de');
    expect(wrong.status).to.equal(400);
    expect(await wrong.text())
      .to.include('<html lang="de">')
      .and.include('Es wurde keine Zahlung simuliert')
      .and.include('Das Formular ist nicht vollständig.');
  });
});
