import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../../dev/support/browser.ts';
import { ownPostgres } from '../../dev/support/parts.ts';
import { startTestApi, type TestApi } from '../support/gateway.ts';
import { barriers } from '../support/http/axe.ts';
import { overflowOf } from '../support/http/browser.ts';
import { busyMerchant } from '../support/http/busy-merchant.ts';
import { crawl, type FoundForm } from '../support/http/crawl.ts';
import { openDashboard } from '../support/http/dashboard.ts';
import { shiftsAtLoad } from '../support/http/shifts.ts';

const PAYER_PATHS = [`/pay/pl_${'A'.repeat(32)}`, `/address/ap_${'A'.repeat(32)}`];
const TYPED = new Set(['text', 'email', 'password', 'url', 'number', 'search', 'area', 'textarea']);

describe('pages in a browser that cannot give what is asked for', function () {
  this.timeout(180_000);
  let browser: Browser;
  let api: TestApi;
  before(async () => {
    [browser, api] = await Promise.all([startBrowser(), startTestApi()]);
  });
  after(async () => {
    await browser?.close();
    await api?.stop();
  });

  it('begin at the first field that is wrong, or at what is wrong, on every form of the dashboard', async () => {
    const busy = await busyMerchant(api);
    const signedIn = await openDashboard(browser, api, { merchantId: busy.merchantId });
    const { page, context } = signedIn;
    const get = async (path: string) => {
      const answer = await context.request.get(api.origin + path);
      return { status: answer.status(), text: await answer.text() };
    };
    const { forms } = await crawl('/dashboard/test/customers', /^\/dashboard/, get);
    const typed = forms.filter(({ fields }) => fields.some(({ type }) => TYPED.has(type)));
    const refused: string[] = [];
    for (const form of typed) {
      await page.goto(api.origin + form.page);
      const status = await sendWrong(form);
      if (status < 400) continue;
      const place = `${form.page} ${form.action} ${status}`;
      expect(await page.evaluate(FOCUS), place).to.equal('where it is wrong');
      refused.push(form.action);
    }
    expect(refused.length, refused.join()).to.be.at.least(8);
    await context.close();

    async function sendWrong({ action }: FoundForm): Promise<number> {
      const answered = page.waitForNavigation();
      await page.evaluate(`(() => {
        const form = [...document.forms].find((one) => one.method === 'post' && one.getAttribute('action') === ${JSON.stringify(action)})
          ?? [...document.forms].find((one) => one.method === 'post' && one.querySelector('[name=once]'));
        for (const field of form.elements)
          if (field.type !== 'hidden' && (field.nodeName === 'TEXTAREA' || field.nodeName === 'INPUT' && !['checkbox', 'radio', 'submit'].includes(field.type)))
            field.value = field.type === 'password' ? 'no' : '<';
        form.noValidate = true;
        form.requestSubmit();
      })()`);
      return (await answered)?.status() ?? 0;
    }
  });

  it('move nothing in the dashboard when the reader’s own times take the place of the server’s', async () => {
    // The passwords that were wrong above came from this address, too.
    await api.deps.orm.em.fork().execute('delete from login_budgets');
    const busy = await busyMerchant(api);
    for (const [timezoneId, width] of [
      ['America/New_York', 320],
      ['Asia/Kolkata', 1280],
    ] as const) {
      const { page, context } = await openDashboard(browser, api, {
        merchantId: busy.merchantId,
        timezoneId,
        viewport: { width, height: 800 },
      });
      // As on a slow line: the page is there long before its script.
      await context.route('**/assets/page.*', async (route) => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        await route.continue();
      });
      for (const path of [
        '',
        '/customers',
        `/customers/${busy.customerId}`,
        '/deposits',
        `/deposits/${busy.deposits.settled}`,
        '/payouts',
        '/events',
        '/endpoints',
      ]) {
        const shifts = await shiftsAtLoad(page, `${api.origin}/dashboard${path}`);
        expect(shifts, `${path} ${timezoneId}`).to.deep.equal([]);
        const own = await page.locator('time[data-local][title]').count();
        expect(own, path).to.equal(await page.locator('time[data-local]').count());
      }
      await context.close();
    }
  });

  it('are read by everybody where too many requests come', async () => {
    const busy = await startTestApi({ limits: { requestsPerSecond: 0.001, requestsBurst: 1 } });
    try {
      const page = await browser.newPage();
      for (const path of [...PAYER_PATHS, ...PAYER_PATHS.map((one) => `${one}?lang=de`), '/dashboard']) {
        let status = 0;
        for (let tries = 0; status !== 429 && tries < 5; tries += 1)
          status = (await page.goto(busy.origin + path))?.status() ?? 0;
        if (path !== '/dashboard') expect(status, path).to.equal(429);
        expect(await overflowOf(page), path).to.equal(0);
        expect(await barriers(page, `429-${path.slice(1, 6)}`), path).to.deep.equal([]);
      }
      await page.context().close();
    } finally {
      await busy.stop();
    }
  });

  it('are read by everybody while the database is away', async () => {
    const server = await ownPostgres();
    const away = await startTestApi({ databaseUrl: server.now.url, poolSize: 4 });
    try {
      const { page, context } = await openDashboard(browser, away);
      server.now.pause();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const path of [...PAYER_PATHS, ...PAYER_PATHS.map((one) => `${one}?lang=de`), '/dashboard']) {
          expect((await page.goto(away.origin + path))?.status(), path).to.equal(503);
          expect(await barriers(page, `503-${path.slice(1, 6)}-${colorScheme}`), path).to.deep.equal([]);
        }
      }
      await page.goto(`${away.origin}/login`);
      if ((await page.locator('#email').count()) > 0) {
        await page.getByLabel('Email').fill('ann@example.com');
        await page.getByLabel('Password').fill('not this one either');
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.waitForLoadState();
      }
      expect(await barriers(page, '503-login')).to.deep.equal([]);
      await context.close();
    } finally {
      server.now.resume();
      await away.stop();
      await server.stop();
    }
  });
});

/** Where the focus is after a refusal. */
const FOCUS = `(() => {
  const wrong = document.querySelector('main [aria-invalid=true], main fieldset[tabindex], main [role=alert][tabindex]');
  const first = document.querySelector('main [aria-invalid=true], main fieldset[tabindex]') ?? wrong;
  return document.activeElement === first ? 'where it is wrong'
    : 'at ' + document.activeElement.outerHTML.slice(0, 150) + ' and not at ' + (first ? first.outerHTML.slice(0, 150) : document.querySelector('main').innerText.slice(0, 300));
})()`;
