import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { Browser } from 'playwright-core';
import { sharedBrowser } from '../../dev/support/browser.ts';
import { type Html, html } from '../../src/web/html.ts';
import { type Page as Document, sendPage } from '../../src/web/layout.ts';
import { amount, usd } from '../../src/web/parts/amount.ts';
import { badge } from '../../src/web/parts/badge.ts';
import { card } from '../../src/web/parts/card.ts';
import { copyable } from '../../src/web/parts/copyable.ts';
import { emptyState } from '../../src/web/parts/empty.ts';
import { checkboxes, secretField, selectField, textArea, textField } from '../../src/web/parts/field.ts';
import { notice, type Tone } from '../../src/web/parts/notice.ts';
import { pager } from '../../src/web/parts/pager.ts';
import { table } from '../../src/web/parts/table.ts';
import { time } from '../../src/web/parts/time.ts';
import { faintTexts, openPage, readText } from '../support/http/browser.ts';
import { wrongWith } from '../support/http/look.ts';

const TONES: readonly Tone[] = ['plain', 'info', 'good', 'warn', 'bad'];
const HOSTILE = `"><script>window.hit = 1</script>${'W'.repeat(200)}`;

const wrong = { error: 'Must be an email address.', value: HOSTILE };

/** Every component in every state, on one page. */
const ALL: Html = html`<h1>All parts</h1>
${TONES.map((tone) => notice(tone, { title: `A ${tone} notice`, text: 'With a sentence.' }))}
${notice('bad', { title: 'What was just sent is wrong' }, 'alert')}
${card(html`<p>${TONES.map((tone) => badge(tone, tone))}</p>`)}
${card(html`${copyable(HOSTILE, { id: 'value', name: 'value' })}<p>${amount('12.5', 'USDT')} ${usd(12.5)} ${time('2026-11-20T09:30:00Z')}</p>`, { id: 'titled', title: 'A card with a title' })}
${emptyState('Nothing yet', 'What would be here.', { href: '/x', label: 'Make the first one' })}
${emptyState('Nothing at all', 'And nothing to do.')}
${card(
  table(
    'Rows',
    [
      { head: 'Name', cell: (row: string) => html`<a href="/row">${row}</a>` },
      { head: 'Amount', end: true, cell: () => amount('1', 'USDT') },
    ],
    ['one', HOSTILE],
  ),
)}
${pager({ newer: '/n', older: '/o', total: 10_000, atLeast: true, noun: ['row', 'rows'], csv: '/rows.csv' })}
${pager({ newer: undefined, older: undefined, total: 1, noun: ['line', 'lines'] })}
${card(html`<form method="post" action="/x">
${textField({ name: 'plain', label: 'A field' })}
${textField({ name: 'email', label: 'Email', hint: 'Of the customer', ...wrong, required: true }, ' type="email"')}
${secretField({ name: 'password', label: 'Password', error: 'Is not right.' }, ' type="password" autocomplete="current-password"')}
${textArea({ name: 'text', label: 'Text', value: HOSTILE })}
${selectField({ name: 'one', label: 'One of', value: 'b' }, [
  { value: 'a', label: 'First' },
  { value: 'b', label: 'Second' },
])}
${checkboxes({ name: 'many', label: 'Any of', hint: 'As many as you like', error: 'Choose one.' }, [
  { value: 'x', label: 'This', checked: true },
  { value: 'y', label: 'That', checked: false },
])}
<button type="submit">Send</button></form>`)}`;

describe('the parts of pages', function () {
  this.timeout(60_000);
  let server: Server;
  let browser: Browser;
  let origin = '';
  let document: Document = { title: 'Parts', body: ALL, hasForm: true };
  before(async () => {
    browser = await sharedBrowser();
    const app = new Koa();
    app.use((ctx) => sendPage(ctx, document));
    server = createServer(app.callback());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server?.close();
  });

  it('keep nobody out and fit, in the light and in the dark, on a phone and on a desk', async () => {
    const wrong: string[] = [];
    for (const [colorScheme, width] of [
      ['light', 320],
      ['dark', 320],
      ['light', 1280],
      ['dark', 1280],
    ] as const) {
      const options = { colorScheme, viewport: { width, height: 800 } };
      const { page, context, complaints } = await openPage(browser, origin, options);
      await page.goto(origin);
      const fields = 'button, .button, input:not([type=checkbox]), select, textarea, summary, label.check';
      const targets = width < 768 ? `${fields}, td a` : fields;
      wrong.push(...(await wrongWith(page, `parts-${colorScheme}-${width}`, { targets })));
      expect(await faintTexts(page, 4.5)).to.deep.equal([]);
      await context.close();
      expect(complaints).to.deep.equal([]);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('say what was wrong at the field, to those who hear it too, and keep what was typed', async () => {
    const { page, context } = await openPage(browser, origin);
    await page.goto(origin);
    const email = page.getByLabel('Email');
    expect(await email.getAttribute('aria-invalid')).to.equal('true');
    expect(await email.getAttribute('aria-describedby')).to.equal('email-hint email-error');
    expect(await readText(page.locator('#email-error'))).to.equal('Must be an email address.');
    expect(await email.inputValue()).to.equal(HOSTILE);
    expect(await page.getByLabel('Password').inputValue()).to.equal('');
    expect(await page.getByLabel('Text').inputValue()).to.equal(HOSTILE);
    await context.close();
  });

  it('lead past the frame to the content by the first key', async () => {
    document = {
      title: 'Framed',
      body: html`<h1>Content</h1>`,
      frame: html`<nav aria-label="Ways"><a href="/x">Way</a></nav>`,
    };
    const { page, context } = await openPage(browser, origin);
    await page.goto(origin);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).to.equal('main');
    await context.close();
  });
});
