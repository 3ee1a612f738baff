import { expect } from 'chai';
import { startTestApi, type TestApi } from '../../../support/gateway.ts';
import { busyMerchant } from '../../../support/http/busy-merchant.ts';
import { type Pages, signedInPages } from '../../../support/http/pages.ts';

/** What a page may weigh that has the most of everything: a reader by telephone gets it in seconds. */
const MOST_BYTES = 300 * 1024;

describe('pages of a merchant with as many endpoints as there may be, all of which fail', function () {
  this.timeout(60_000);
  let api: TestApi;
  let pages: Pages;
  let busy: Awaited<ReturnType<typeof busyMerchant>>;
  before(async () => {
    api = await startTestApi();
    busy = await busyMerchant(api);
    pages = await signedInPages(api, busy.merchantId);
    await busy.sql(
      `insert into webhook_endpoints (id, merchant_id, mode, url, description, events, enabled, secret_sealed,
         secret_hint, earlier_secrets, consecutive_failures, failing_since, gone_count, created_at, updated_at)
       select gen_random_uuid(), merchant_id, mode, url || '/' || repeat('x', 2000) || n, repeat('d', 500), events,
         enabled, secret_sealed, secret_hint, earlier_secrets, 5, now(), 0, now(), now()
       from webhook_endpoints, generate_series(1, 49) n where id = ?`,
      [busy.endpointId],
    );
    await busy.sql(
      `insert into webhook_deliveries (id, event_id, endpoint_id, event_type, status, round, created_at, finished_at)
       select id_of_delivery(e.id, w.id), e.id, w.id, e.type, 'failed', 5, e.created_at, now()
       from events e join webhook_endpoints w using (merchant_id) where e.merchant_id = ? on conflict do nothing`,
      [busy.merchantId],
    );
    await busy.sql(
      `insert into webhook_attempts (delivery_id, round, number, started_at, finished_at, error, duration_ms)
       select d.id, r, n, d.created_at + (r * 5 + n) * interval '1 minute', now(), repeat('e', 300), 10000
       from webhook_deliveries d, generate_series(1, 5) r, generate_series(1, 5) n on conflict do nothing`,
    );
  });
  after(() => api?.stop());

  it('stay small, and say where something is left out', async () => {
    const event = await busy.eventOf(busy.deposits.settled, 'deposit.settled');
    const endpoint = `/endpoints/${busy.endpointId}`;
    const heavy: readonly [path: string, says: string][] = [
      [`/deposits/${busy.deposits.settled}`, 'The oldest steps are not shown'],
      [`/events/${event}`, 'Sending 5, attempt 5'],
      [`${endpoint}/deliveries?limit=100`, 'The event has those before.'],
      [endpoint, 'The event has those before.'],
      ['/endpoints?limit=100', 'xxx…xxx'],
      ['', 'xxx…xxx'],
    ];
    for (const [path, says] of heavy) {
      const { status, text } = await pages.get(`/dashboard${path}`);
      expect([path, status, text.includes(says)]).to.deep.equal([path, 200, true]);
      expect(Buffer.byteLength(text), path).to.be.below(MOST_BYTES);
    }
  });
});
