import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { CONTENT_SECURITY_POLICY } from '../../src/web/layout.ts';
import { call } from '../support/gateway.ts';
import { exchange } from '../support/http/raw-http.ts';
import { type Shop, startShop } from '../support/payment-shop.ts';

const UNKNOWN_TOKEN = `pl_${'A'.repeat(32)}`;

describe('the page of a payment link over HTTP', function () {
  this.timeout(30_000);
  let shop: Shop;
  before(async () => {
    shop = await startShop();
  });
  after(() => shop.stop());

  const pageAt = (path: string, input: { method?: string; headers?: Record<string, string> } = {}) =>
    call(`${shop.api.origin}/pay/${path}`, input);
  const make = async (more: Parameters<Shop['link']>[0] = {}) =>
    await shop.link({ email: 'payer@example.com', ...more });

  it('may load and run nothing but our own scripts, is framed by nobody, cached nowhere, and tells nobody where it was', async () => {
    const { token } = await make();
    for (const path of [token, UNKNOWN_TOKEN]) {
      const { headers, text } = await pageAt(path);
      // Beside the stylesheet of all pages the checkout has rules of its own.
      const [, ...own] = [...text.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = '']) => style);
      const hashes = own.map((style) => ` 'sha256-${createHash('sha256').update(style).digest('base64')}'`);
      // The one that loads the page again where the script that follows the link is lost.
      const [, written = ''] = /<script>([\s\S]*?)<\/script>/.exec(text) ?? [];
      const hash = `'sha256-${createHash('sha256').update(written).digest('base64')}'`;
      const powers =
        path === token ? `; script-src ${hash} 'self'; connect-src 'self'; img-src ` : '; img-src ';
      const policy = CONTENT_SECURITY_POLICY.replace('; img-src ', powers);
      expect(headers.get('content-security-policy')).to.equal(
        policy.replace(/(style-src [^;]*)/, `$1${hashes.join('')}`),
      );
      expect(CONTENT_SECURITY_POLICY)
        .to.match(/^default-src 'none';/)
        .and.include("frame-ancestors 'none'")
        .and.not.include('unsafe');
      const told = ['content-type', 'cache-control', 'referrer-policy', 'x-content-type-options'].map(
        (name) => headers.get(name),
      );
      expect(told).to.deep.equal(['text/html; charset=utf-8', 'no-store', 'no-referrer', 'nosniff']);
    }
  });

  it('names nothing of the customer or of the merchant but its name', async () => {
    const customerId = await shop.customer();
    const link = await make({
      customerId,
      description: 'Order 7',
      externalId: 'secret-reference',
      metadata: { key: 'secret-member' },
      webhookUrl: 'http://127.0.0.1:9/secret-hook',
    });
    const { status, text } = await pageAt(link.token);
    expect(status).to.equal(200);
    expect(text).to.include('Order 7').and.include('Shop').and.include('25.00 USD');
    for (const secret of ['secret', 'payer@', link.id, customerId, shop.merchantId, '127.0.0.1', link.token])
      expect(text).not.to.include(secret);
  });

  for (const [path, unknown, says] of [
    ['pay', UNKNOWN_TOKEN, 'There is no such payment link'],
    ['address', `ap_${'A'.repeat(32)}`, 'There is no such page'],
  ] as const)
    it(`is one and the same 404 page for every token that is unknown or cannot be, and can only be read: /${path}`, async () => {
      const at = (rest: string, method = 'GET') => call(`${shop.api.origin}/${path}/${rest}`, { method });
      const { token } = await make();
      const page = await shop.pageToken(await shop.customer());
      const [own, other] = path === 'pay' ? [token, page] : [page, token];
      const wrong = ['', unknown, other, 'x', `${own}/`, `${own}/x`, `${own}x`, own.toUpperCase()];
      const answers = await Promise.all([...wrong, '%E0%A4%A', '%00', '..%2f', '?x'].map((rest) => at(rest)));
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 404));
      expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
      expect(answers[0]?.text).to.include(says).and.not.include('http-equiv');
      const [head, get] = [await at(own, 'HEAD'), await at(own)];
      expect([head.status, head.text, get.status]).to.deep.equal([200, '', 200]);
      for (const name of ['content-type', 'content-length', 'content-security-policy', 'cache-control'])
        expect(head.headers.get(name), name).to.equal(get.headers.get(name));
      expect((await at(unknown, 'HEAD')).status).to.equal(404);
      for (const [query, sentence] of [
        ['', 'This page can only be read'],
        ['?lang=de', 'Diese Seite kann nur gelesen werden'],
      ] as const) {
        const { status, headers, text } = await at(own + query, 'DELETE');
        expect([status, headers.get('allow')]).to.deep.equal([405, 'GET, HEAD']);
        expect(text).to.include(sentence);
      }
    });

  it('takes no notice of what the request says about itself', async () => {
    const { token } = await make({ cancelUrl: 'https://shop.example/' });
    const plain = (await pageAt(token)).text;
    const [forged] = await exchange(
      shop.api.origin,
      `GET /pay/${token} HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n`,
    );
    expect([forged?.status, forged?.text]).to.deep.equal([200, plain]);
    for (const query of [
      '?network=eth',
      '?network=__proto__',
      '?network=tron&network=bsc',
      '?refresh=%3Cscript%3E',
      '?network=%E0%A4%A',
    ])
      expect((await pageAt(token + query)).text, query).to.equal(plain);
  });

  it('keeps the token out of the log', async () => {
    const { token } = await make();
    await pageAt(token);
    await pageAt(`${token}x`);
    expect(JSON.stringify(shop.api.lines)).not.to.include(token);
    expect(shop.api.lines.map(({ fields }) => fields['route'])).to.include('/pay/:token');
  });

  it('links only to addresses on the web, whatever lies in the database', async () => {
    const { token, id } = await make({ successUrl: 'https://shop.example/a?b="c"' });
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'https://a:b@evil.example/',
      'vbscript:x',
      ' javascript:x',
      '/x',
      'x',
    ]) {
      await shop.sql('update payment_links set cancel_url = ? where id = ?', [url, id]);
      // A wallet is opened by what we make of our own address and amount.
      expect((await pageAt(token)).text.match(/href="(?!data:image|\?|ethereum:0x)[^"]*"/g), url).to.equal(
        null,
      );
    }
    await shop.sql('update payment_links set cancel_url = ? where id = ?', [
      'https://shop.example/?a="><script>&b',
      id,
    ]);
    expect((await pageAt(token)).text).to.include('href="https://shop.example/?a=%22%3E%3Cscript%3E&amp;b"');
  });

  it('says 429 with a page to an address that asks too often, whatever it tries', async () => {
    const busy = await startShop({ limits: { requestsPerSecond: 0.001, requestsBurst: 4 } });
    try {
      const answers = [];
      for (const path of [
        'pay/x',
        'address/a',
        `address/ap_${'A'.repeat(32)}/live`,
        'pay/x/live?once=1',
        'pay/x',
        'address/b/live',
      ])
        answers.push(await call(`${busy.api.origin}/${path}`));
      expect(answers.map(({ status }) => status)).to.deep.equal([404, 404, 404, 404, 429, 429]);
      expect(answers[4]?.headers.get('retry-after')).to.match(/^\d+$/);
      expect(answers[4]?.headers.get('content-type')).to.match(/^text\/html/);
    } finally {
      await busy.stop();
    }
  });
});
