import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCustomer, createEndpoint, simulateDeposit } from '../../../dev/support/use-cases.ts';
import type { TestApi } from '../../support/gateway.ts';
import { barriers } from '../../support/http/axe.ts';
import { overflowOf, readText } from '../../support/http/browser.ts';
import { openDashboard, unexpected } from '../../support/http/dashboard.ts';
import { errorAt, signedInPages } from '../../support/http/pages.ts';
import { browserStage } from '../../support/http/stage.ts';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9/hook';

describe('deliveries in the dashboard', function () {
  this.timeout(60_000);
  const the = browserStage();

  const sql = <Row = Record<string, unknown>>(text: string, params: unknown[] = []) =>
    the.api.deps.orm.em.fork().execute<Row[]>(text, params);

  it('show each attempt with its answer, and send one or all that failed again', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const { id, delivery } = await busyEndpoint(the.api, merchantId, NOWHERE);
    const pages = await signedInPages(the.api, merchantId);
    const log = `/dashboard/test/endpoints/${id}/deliveries`;
    expect((await pages.get(log)).text).to.include('Send what failed again');
    const failed = await pages.get(`${log}?status=failed&event=deposit.confirming`);
    expect(failed.text)
      .to.include('<strong>HTTP 503</strong> after 84 ms')
      .and.to.include('the connection was refused: &lt;b&gt;127.0.0.1&lt;/b&gt;, 84 ms')
      .and.to.include('Attempt 2')
      .and.to.include('1 delivery')
      .and.not.to.include('84 ms</bdi></strong> after');
    const resend = `/dashboard/test/deliveries/${delivery('deposit.confirming')}/resend`;
    const once = randomUUID();
    const again = await pages.post(resend, { of: 'endpoints', once });
    expect([again.status, again.location]).to.deep.equal([303, log]);
    expect((await pages.post(resend, { of: 'endpoints', once })).status).to.equal(303);
    const rounds = 'select round, status from webhook_deliveries where id = ?';
    expect(await sql(rounds, [delivery('deposit.confirming')])).to.deep.equal([
      { round: 2, status: 'pending' },
    ]);
    const tooSoon = await pages.post(resend, { of: 'endpoints' });
    expect(tooSoon.status).to.equal(400);
    expect(tooSoon.text).to.include('still on its way');
    expect((await pages.post(resend, { of: 'links' })).status).to.equal(400);

    await sql("update webhook_deliveries set status = 'failed', finished_at = now() where endpoint_id = ?", [
      id,
    ]);
    const today = new Date().toISOString().slice(0, 10);
    const all = await pages.post(`/dashboard/test/endpoints/${id}/resend-failed`, { since: today });
    expect([all.status, all.location]).to.deep.equal([303, `${log}?status=pending`]);
    const left =
      "select count(*)::int as n from webhook_deliveries where endpoint_id = ? and status = 'failed'";
    expect(await sql(left, [id])).to.deep.equal([{ n: 0 }]);
    expect((await pages.get(log)).text).not.to.include('Send what failed again');
    const nothing = await pages.post(`/dashboard/test/endpoints/${id}/resend-failed`, { since: today });
    expect(nothing.status).to.equal(400);
    expect(errorAt(nothing, 'since')).to.equal('Nothing has failed there since that day.');
    for (const since of ['', 'yesterday', '2026-13-40', '9'.repeat(3_000)]) {
      const wrong = await pages.post(`/dashboard/test/endpoints/${id}/resend-failed`, { since });
      expect([wrong.status, errorAt(wrong, 'since')], since.slice(0, 20)).to.deep.equal([
        400,
        'Must be an ISO-8601 time such as 2026-11-20T09:30:00Z.',
      ]);
    }
  });

  it('are shown in every state, for eyes, ears and a narrow screen alike', async () => {
    const { id: merchantId } = await the.api.newMerchant();
    const long = `http://127.0.0.1:9/${'x'.repeat(300)}`;
    const { id, delivery } = await busyEndpoint(the.api, merchantId, long);
    const off = await createEndpoint(the.api.deps, {
      merchantId,
      mode: 'test',
      url: NOWHERE,
      events: ['deposit.completed'],
      description: '<img src=x onerror=alert(1)>',
    });
    await sql(
      `update webhook_endpoints set enabled = false, disabled_reason = 'it answered 410 Gone ten times',
         consecutive_failures = 10, last_delivery_at = now(), last_status_code = 410 where id = ?`,
      [off.id],
    );
    await sql('update webhook_endpoints set consecutive_failures = 3 where id = ?', [id]);
    const signedIn = await openDashboard(the.browser, the.api, {
      merchantId,
      path: '/dashboard/test/endpoints',
      viewport: { width: 320, height: 640 },
    });
    const { page, context } = signedIn;
    const paths = [
      'endpoints',
      'endpoints/new',
      `endpoints/${id}`,
      `endpoints/${off.id}`,
      `endpoints/${id}/change`,
      `endpoints/${id}/rotate`,
      `endpoints/${id}/delete`,
      `endpoints/${id}/deliveries`,
      `endpoints/${off.id}/deliveries`,
      `endpoints/${id}/deliveries?status=wrong`,
    ];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const path of paths) {
        await page.goto(`${the.api.origin}/dashboard/test/${path}`);
        expect(await barriers(page), path).to.deep.equal([]);
        expect(await overflowOf(page), path).to.equal(0);
      }
    }
    await page.goto(`${the.api.origin}/dashboard/test/endpoints/${off.id}`);
    expect(await readText(page.getByRole('note'))).to.include('it answered 410 Gone ten times');
    await page.goto(`${the.api.origin}/dashboard/test/endpoints/${id}/deliveries`);
    await sql("update webhook_deliveries set status = 'pending', finished_at = null where id = ?", [
      delivery('deposit.confirming'),
    ]);
    await page.getByRole('button', { name: 'Send again: deposit.confirming' }).click();
    expect(await readText(page.getByRole('alert'))).to.include('still on its way');
    expect(await barriers(page)).to.deep.equal([]);
    await context.close();
    expect(unexpected(signedIn, 400)).to.deep.equal([]);
  });
});

/** An endpoint of the test mode with one delivery for each outcome, as a worker would have left them. */
async function busyEndpoint(api: TestApi, merchantId: string, url: string) {
  const sql = <Row>(text: string, params: unknown[]) => api.deps.orm.em.fork().execute<Row[]>(text, params);
  const scope = { merchantId, mode: 'test' as const };
  const { id } = await createEndpoint(api.deps, { ...scope, url, events: ['*'], description: null });
  const customer = await createCustomer(api.deps, {
    ...scope,
    externalId: randomUUID(),
    email: null,
    name: null,
    metadata: {},
  });
  await simulateDeposit(api.deps, {
    merchantId,
    customerId: customer.id,
    network: 'bsc',
    currency: 'USDT',
    amountUnits: 10n ** 18n,
    outcome: 'completed',
    events: 'full',
  });
  await sql(
    `update webhook_deliveries set status = 'failed', finished_at = now() where endpoint_id = ?
       and event_type = 'deposit.confirming'`,
    [id],
  );
  await sql(
    `update webhook_deliveries set status = 'succeeded', finished_at = now() where endpoint_id = ?
       and event_type = 'deposit.detected'`,
    [id],
  );
  await sql(
    `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, status_code, error,
       duration_ms)
     select d.id, 1, n, now(), now(), case when d.status = 'succeeded' then 200 when n = 1 then 503 end,
       case when d.status = 'failed' and n = 2 then 'the connection was refused: <b>127.0.0.1</b>, 84 ms' end, 84
     from webhook_deliveries d, generate_series(1, case when d.status = 'failed' then 2 else 1 end) n
     where d.endpoint_id = ? and d.status <> 'pending'`,
    [id],
  );
  const deliveries = await sql<{ id: string; event_type: string }>(
    'select id, event_type from webhook_deliveries where endpoint_id = ?',
    [id],
  );
  const delivery = (event: string) => deliveries.find((row) => row.event_type === event)?.id ?? '';
  return { id, delivery };
}
