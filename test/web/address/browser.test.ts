import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { NETWORKS, type Network } from '../../../src/domain/assets.ts';
import { openPage, readText, type WatchedPage } from '../../support/http/browser.ts';
import { wrongWith } from '../../support/http/look.ts';
import { shopStage } from '../../support/http/stage.ts';
import type { Pay } from '../../support/payment-shop.ts';

const PHONE = { width: 320, height: 640 };

type State = { readonly path: string; readonly status: string; readonly watched: readonly Network[] };

describe('the page of a customer’s addresses in a browser', function () {
  this.timeout(120_000);
  const the = shopStage();
  const states = new Map<string, State>();

  const make = async (money: readonly Pay[] = [], mode: 'live' | 'test' = 'live') => {
    const id = await the.shop.customer(mode);
    for (const one of money) {
      the.shop.pass(1);
      await the.shop.pay(id, one);
    }
    return { id, path: `/address/${await the.shop.pageToken(id, mode)}`, status: '', watched: NETWORKS };
  };

  before(async () => {
    const many = Array.from({ length: 12 }, (_, index): Pay => ({ coins: `${index + 1}` }));
    const known: readonly [string, string, readonly Pay[]][] = [
      ['empty', 'empty', []],
      ['detected', 'seen', [{ coins: '5', state: 'detected' }]],
      ['confirming', 'seen', [{ coins: '5' }, { coins: '7.000000000000000001', state: 'confirming' }]],
      ['completed', 'arrived', [{ coins: '5', network: 'tron' }]],
      ['settled', 'arrived', [{ coins: '5', state: 'settled' }]],
      ['reorged', 'failed', [{ coins: '5' }, { coins: '7', state: 'failed' }]],
      ['many', 'arrived', many],
    ];
    for (const [name, status, money] of known) states.set(name, { ...(await make(money)), status });
    states.set('test', { ...(await make([{ coins: '5' }], 'test')), status: 'arrived' });
    states.set('one network', { ...(await make()), status: 'empty', watched: ['tron'] });
    states.set('none watched', { ...(await make()), status: 'unwatched', watched: [] });
    states.set('unknown', { path: `/address/ap_${'A'.repeat(32)}`, status: '', watched: NETWORKS });
  });

  const open = async (options: Parameters<typeof openPage>[2] = {}) =>
    await openPage(the.browser, the.shop.api.origin, { viewport: PHONE, ...options });
  const show = async ({ page }: WatchedPage, { path, watched }: State, query = '') => {
    Object.assign(the.shop.deps.settings.payments, { watchedNetworks: watched });
    await page.goto(the.shop.api.origin + path + query);
  };
  const close = async ({ context, complaints }: WatchedPage) => {
    await context.close();
    expect(complaints.filter((text) => !/404|^failed request: .*\/live\?/.test(text))).to.deep.equal([]);
  };

  it('is whole in every state, and read by everybody, on a phone, in each language, light and dark', async () => {
    const wrong: string[] = [];
    for (const [turn, [lang, colorScheme]] of [['en', 'light'] as const, ['de', 'dark'] as const].entries()) {
      const watched = await open({ colorScheme, isMobile: true, deviceScaleFactor: 2 });
      const { page } = watched;
      for (const [name, one] of [...states].filter((_, index) => index % 2 === turn)) {
        await show(watched, one, `?lang=${lang}`);
        if (one.status)
          expect(await page.locator('#state').getAttribute('data-status'), name).to.equal(one.status);
        wrong.push(...(await wrongWith(page, `address-${name}-${lang}`)));
      }
      await close(watched);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('gives each network’s address, its code and a wallet’s link, without script too, and copies it with one', async () => {
    const made = await make();
    const rows = await the.shop.sql<{ network: Network; address: string }>(
      'select network, address from deposit_addresses where customer_id = ?',
      [made.id],
    );
    const of = (network: Network) => rows.find((row) => row.network === network)?.address ?? '';
    for (const javaScriptEnabled of [true, false]) {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const watched = await open({ javaScriptEnabled, permissions });
      const { page } = watched;
      await show(watched, made);
      expect(await readText(page.locator('[data-part="address"]'))).to.equal(of('bsc'));
      if (javaScriptEnabled) {
        await page.getByRole('button', { name: 'Copy: address' }).click();
        const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
        await eventually('the copy', async () => (await copied()) === of('bsc'));
      }
      const text = await readText(page.locator('main'));
      expect(text).to.include('Send only USDT or BNB on BNB Chain (BEP-20)');
      const wallet = page.getByRole('link', { name: 'Open in a wallet on this device' });
      expect(await wallet.getAttribute('href')).to.match(new RegExp(`^ethereum:${of('bsc')}@\\d+$`));
      const code = page.getByRole('img', { name: /^QR code/ });
      expect(await code.getAttribute('aria-label')).to.include(of('bsc'));
      await page.getByRole('link', { name: /^Tron/ }).click();
      expect(await readText(page.locator('[data-part="address"]'))).to.equal(of('tron'));
      expect(await wallet.getAttribute('href')).to.equal(`tron:${of('tron')}`);
      await page.getByRole('link', { name: 'Deutsch' }).click();
      expect(await readText(page.locator('main'))).to.include(
        'Senden Sie nur USDT oder TRX über Tron (TRC-20)',
      );
      await close(watched);
    }
  });
});
