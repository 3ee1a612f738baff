import { expect } from 'chai';
import { overflowOf, readText } from '../../support/http/browser.ts';
import { openDashboard, submitLogin, unexpected } from '../../support/http/dashboard.ts';
import { browserStage } from '../../support/http/stage.ts';
import { newUser } from '../../support/sign-in.ts';

describe('a form that somebody comes back to', function () {
  this.timeout(60_000);
  const the = browserStage();

  const countOf = async (table: 'payment_links' | 'api_keys', merchantId: string): Promise<number> => {
    const rows: { n: number }[] = await the.api.deps.orm.em
      .fork()
      .execute(`select count(*)::int as n from ${table} where merchant_id = ?`, [merchantId]);
    return rows[0]?.n ?? -1;
  };

  it('leads by the back button to where it led before, and is refused with other values', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const before = await countOf('api_keys', merchantId);
    const signedIn = await openDashboard(the.browser, the.api, { merchantId, path: '/dashboard/test' });
    const { page } = signedIn;
    await page.goto(`${the.api.origin}/dashboard/test/settings/keys/new`);
    const make = async (label: string): Promise<string> => {
      await page.getByLabel('Label').fill(label);
      await page.getByRole('button', { name: 'Make the key' }).click();
      await page.waitForLoadState();
      return await readText(page.locator('main'));
    };
    expect(await make('shop server')).to.include('Copy it now');
    await page.goBack();
    expect(await make('shop server')).to.include('This was shown already');
    await page.goBack();
    await page.reload();
    expect(await make('another one')).to.include('has taken effect. Open a new one for another change.');
    expect((await countOf('api_keys', merchantId)) - before).to.equal(1);
    await page.goto(`${the.api.origin}/dashboard/test/settings/keys`);
    await page.getByRole('link', { name: 'New key' }).click();
    expect(await make('shop server'), 'a new form is another one').to.include('Copy it now');
    expect((await countOf('api_keys', merchantId)) - before).to.equal(2);
    expect(unexpected(signedIn, 404, 409)).to.deep.equal([]);
  });

  it('keeps what was typed when the sign-in ended meanwhile, without script too', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const viewport = { width: 320, height: 640 };
    const more = { merchantId, viewport, javaScriptEnabled: false };
    const { page, context, user } = await openDashboard(the.browser, the.api, more);
    await page.goto(`${the.api.origin}/dashboard/test/links/new`);
    await page.getByLabel('Email of the customer').fill('ann@example.com');
    await page.getByLabel('Amount in USD').fill('77.50');
    await page.getByLabel('Description').fill('Chairs "and" <b>a table</b>');
    await page.getByLabel('Can be paid for').selectOption({ label: '3 days' });
    await the.api.deps.orm.em.fork().execute('delete from sessions where user_id = ?', [user.id]);
    await page.getByRole('button', { name: 'Create payment link' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    expect(await readText(page.locator('main'))).to.include('Nothing was changed');
    expect(await overflowOf(page)).to.equal(0);
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Sign in, in another tab' }).click();
    const other = await opened;
    await submitLogin(other, user);
    expect(new URL(other.url()).pathname).to.equal('/dashboard/test/links/new');
    await page.getByRole('button', { name: 'Go on with the form' }).click();
    await page.getByRole('heading', { name: 'New payment link' }).waitFor();
    expect(await page.getByLabel('Amount in USD').inputValue()).to.equal('77.50');
    expect(await page.getByLabel('Description').inputValue()).to.equal('Chairs "and" <b>a table</b>');
    expect(await countOf('payment_links', merchantId), 'nothing was made unseen').to.equal(0);
    await page.getByRole('button', { name: 'Create payment link' }).click();
    await page.getByRole('heading', { name: 'Chairs "and" <b>a table</b>' }).waitFor();
    expect(await countOf('payment_links', merchantId)).to.equal(1);
  });

  it('keeps no password, and shows nothing that another origin sent', async () => {
    const user = await newUser(the.api);
    const post = (path: string, members: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(the.api.origin + path, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(members),
        headers,
      });
    const change = { network: '203.0.113.7', confirm_password: user.password, confirm_code: '123456' };
    const kept = await post('/dashboard/settings/allowlist', change);
    const text = await kept.text();
    expect([kept.status, text.includes('203.0.113.7')]).to.deep.equal([401, true]);
    expect(text).to.not.include(user.password).and.not.include('123456');
    const password = { present: user.password, password: 'a wholly new one', again: 'a wholly new one' };
    for (const [path, members, headers] of [
      ['/dashboard/settings/allowlist', change, { Origin: 'https://evil.example' }],
      // More than anybody may send.
      ['/dashboard/settings/allowlist', { ...change, more: 'a'.repeat(8_192) }, {}],
      ['/dashboard/account/password', password, {}],
    ] as [string, Record<string, string>, Record<string, string>][]) {
      const { status, headers: told } = await post(path, members, headers);
      const login = `/login?${new URLSearchParams({ next: path })}`;
      expect([status, told.get('location')], JSON.stringify(headers)).to.deep.equal([303, login]);
    }
  });
});
