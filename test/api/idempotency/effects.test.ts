import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { apiOf, type TestApi } from '../../support/gateway.ts';
import { post, rows } from '../../support/once.ts';

/** Counted by every request, whatever comes of it. */
const BESIDE_EFFECTS = ['rate_limits', 'sessions', 'api_keys'];

/**
 * Something for each POST route to do. A route that is not
 * here fails the test: every effect has to be looked at.
 */
const SAMPLES: Readonly<Record<string, (api: TestApi) => Promise<{ path?: string; body?: unknown }>>> = {
  '/customers': async () => ({ body: { external_id: randomUUID() } }),
  '/customers/:id/address-page': async (api) => ({
    path: `/customers/${await newCustomer(api)}/address-page`,
  }),
  '/webhook-endpoints': async () => ({ body: ENDPOINT }),
  '/webhook-endpoints/:id/test': async (api) => ({
    path: `/webhook-endpoints/${await newEndpoint(api)}/test`,
  }),
  '/webhook-endpoints/:id/resend-failed': async (api) => {
    const endpoint = await newEndpoint(api);
    await failedDelivery(api, endpoint);
    return { path: `/webhook-endpoints/${endpoint}/resend-failed`, body: { since: '2020-01-01T00:00:00Z' } };
  },
  '/webhook-deliveries/:id/resend': async (api) => ({
    path: `/webhook-deliveries/${await failedDelivery(api, await newEndpoint(api))}/resend`,
  }),
  '/test/simulate-deposit': async (api) => ({ body: { customer_id: await newCustomer(api) } }),
  '/request-payment': async () => ({ body: { ...newOrder(), webhook_url: 'http://127.0.0.1:9/' } }),
  '/test/expire-payment': async (api) => ({ body: { token: (await newLink(api))['token'] } }),
  '/payment-links/:id/cancel': async (api) => ({
    path: `/payment-links/${(await newLink(api))['id']}/cancel`,
  }),
};

const ENDPOINT = { url: 'http://127.0.0.1:9/', events: '*' };
const newOrder = () => ({ email: `${randomUUID()}@example.com`, amount_usd: 10 });
const newLink = async (api: TestApi) => (await post(api, '/request-payment', randomUUID(), newOrder())).body;
const newCustomer = async (api: TestApi) =>
  (await post(api, '/customers', randomUUID(), { external_id: randomUUID() })).body['id'];
const newEndpoint = async (api: TestApi): Promise<string> =>
  (await post(api, '/webhook-endpoints', randomUUID(), ENDPOINT)).body['id'];

async function failedDelivery(api: TestApi, endpoint: string): Promise<string> {
  const event = await post(api, `/webhook-endpoints/${endpoint}/test`, randomUUID());
  const id = event.body['deliveries'][0].id;
  await rows(
    api,
    "update webhook_deliveries set status = 'failed', finished_at = now(), next_attempt_at = null where id = ?",
    [id],
  );
  return id;
}

describe('the effect of a POST with an Idempotency-Key', function () {
  this.timeout(30_000);
  const api = apiOf();

  before(async () => {
    await rows(api, 'create table witness (table_name text, transaction_id xid8)');
    await rows(
      api,
      `create function bear_witness() returns trigger language plpgsql as $$ begin
         insert into witness values (tg_table_name, pg_current_xact_id()); return null; end $$`,
    );
    const tables = await rows(
      api,
      "select tablename from pg_tables where schemaname = 'public' and tablename <> 'witness'",
    );
    for (const { tablename } of tables)
      await rows(
        api,
        `create trigger witness after insert or update
          or delete on ${tablename} for each statement execute function bear_witness()`,
      );
  });

  const witnessed = async () => {
    const seen = await rows(api, 'select table_name, transaction_id::text as id from witness');
    return seen.filter((row) => !BESIDE_EFFECTS.includes(String(row['table_name'])));
  };

  it('is one transaction with the stored answer, on every route', async () => {
    for (const { path } of ROUTES.filter(({ method, auth }) => method === 'post' && auth === 'merchant')) {
      const sample = await SAMPLES[path]?.(api);
      expect(sample, `a sample for ${path}`).to.be.an('object');
      await rows(api, 'delete from witness');
      const answer = await post(api, sample?.path ?? path, randomUUID(), sample?.body);
      expect(answer.status, `${path} ${answer.text}`).to.be.oneOf([200, 201]);
      const effects = await witnessed();
      expect(effects.map((row) => row['table_name']))
        .to.include('idempotency_answers')
        .and.have.length.greaterThan(1);
      expect(new Set(effects.map((row) => row['id'])).size, JSON.stringify(effects)).to.equal(1);
    }
  });

  it('is told apart from two transactions by this very test', async () => {
    await rows(api, 'delete from witness');
    for (const once of [randomUUID(), randomUUID()])
      await post(api, '/customers', once, { external_id: once });
    expect(new Set((await witnessed()).map((row) => row['id'])).size).to.equal(2);
  });
});

/**
 * A change gets its transaction and deps without a database, which the type check and the guard test hold.
 * What is left that would leave the transaction, and the files that may: they read, or belong to no request.
 */
const WAYS_OUT = /(?<!deps\.orm\.em\s*)\.fork\(|\.getConnection\(|\.begin\(/g;
const MAY: Readonly<Record<string, string>> = {
  'access/key-use.ts': 'notes that a key was used, after the request',
  'access/proof.ts': 'whose proof it is, before any use case',
  'access/sessions.ts': 'the owner of a session, before any use case',
  'access/rate-limit.ts': 'counts a request, before any use case',
  'ledger/balances.ts': 'the read of GET /balance',
  'merchants/customer-reads.ts': 'the hot reads of customers',
  'merchants/key-owner.ts': 'the owner of a key, before any use case',
};

describe('a route', () => {
  it('that is no GET changes something, in the transaction of its request', () => {
    for (const { method, path, read, apply } of ROUTES)
      expect([read, apply].map(Boolean), `${method} ${path}`).to.deep.equal(
        method === 'get' ? [true, false] : [false, true],
      );
  });

  it('has no way out of a transaction that it was given', () => {
    const source = join(import.meta.dirname, '../../../src');
    const files = ['services', 'api/routes'].flatMap((folder) =>
      readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts') && !(file in MAY))
        .map((file) => join(source, folder, file)),
    );
    const found = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(WAYS_OUT)].map(([way]) => `${file}: ${way}`),
    );
    expect(found).to.deep.equal([]);
    expect(files.length).to.be.greaterThan(20);
  });
});
