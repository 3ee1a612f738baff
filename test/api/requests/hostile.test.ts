import { expect } from 'chai';
import fc from 'fast-check';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { call, startTestApi, type TestApi } from '../../support/gateway.ts';

const RUNS = 60;

/** Every member that some route takes, and a few that none does. */
const MEMBERS = [
  'external_id',
  'email',
  'name',
  'metadata',
  'url',
  'events',
  'enabled_events',
  'description',
  'enabled',
  'rotate_secret',
  'customer_id',
  'network',
  'currency',
  'token',
  'amount',
  'amount_usd',
  'transaction_hash',
  'from_address',
  'outcome',
  'payment_token',
  'limit',
  'page',
  'starting_after',
  'ending_before',
  'search',
  'address',
  'status',
  'event',
  'created_from',
  'created_to',
  '__proto__',
  'constructor',
];

const words = fc.constantFrom(
  '',
  ' ',
  '0',
  '-1',
  '1e309',
  'NaN',
  'null',
  'true',
  '10',
  '*',
  'USDT',
  'TRX',
  'tron',
  'bsc',
  'completed',
  'customer.created',
  "' or 1=1 --",
  '%',
  '\\',
  '?',
  '$1',
  'a@b.co',
  'x'.repeat(400),
  '9'.repeat(90),
  '2026-11-20T09:30:00Z',
  '-000001-01-01T00:00:00Z',
  '+275760-09-13T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
  'http://127.0.0.1/',
  'http://[::1]:1/',
  'http://127.0.0.1:99999/',
  '00000000-0000-4000-8000-000000000000',
  `0x${'a'.repeat(64)}`,
  '\u{10ffff}',
  '\ufffe',
);
const values = fc.oneof(
  { weight: 3, arbitrary: words },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const bodies = fc.dictionary(fc.constantFrom(...MEMBERS), values, { maxKeys: 8 });
const queries = fc.array(
  fc.tuple(fc.constantFrom(...MEMBERS), fc.oneof(words, fc.string({ unit: 'binary', maxLength: 40 }))),
  {
    maxLength: 5,
  },
);
const ids = fc.oneof(words, fc.uuid(), fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }));

describe('hostile values in every field of every route', function () {
  this.timeout(60_000);
  let api: TestApi;
  let realIds: Record<string, string>;
  before(async () => {
    api = await startTestApi();
    const key = api.keys.test;
    const customer = (await call(`${api.url}/customers`, { key, body: { external_id: 'real' } })).body['id'];
    const endpoint = (
      await call(`${api.url}/webhook-endpoints`, { key, body: { url: 'http://127.0.0.1:9/', events: '*' } })
    ).body['id'];
    realIds = {
      '/customers/:id': customer,
      '/webhook-endpoints/:id': endpoint,
      '/webhook-endpoints/:id/deliveries': endpoint,
    };
  });
  after(() => api.stop());

  for (const route of ROUTES) {
    it(`never breaks ${route.method.toUpperCase()} ${route.path}`, async () => {
      const real = realIds[route.path];
      // A delete with the real id would leave nothing to be hostile to.
      const anyId = real === undefined || route.method === 'delete' ? ids : fc.oneof(fc.constant(real), ids);
      await fc.assert(
        fc.asyncProperty(anyId, queries, bodies, async (id, query, body) => {
          const path = route.path.replace(
            ':id',
            encodeURIComponent(id.toWellFormed()).replaceAll('.', '%2E'),
          );
          const search = query
            .map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`)
            .join('&');
          const answer = await call(`${api.url}${path}?${search}`, {
            method: route.method.toUpperCase(),
            key: api.keys.test,
            ...(route.body ? { body } : {}),
          });
          // BNB and TRX have no price here, which is honestly a 503.
          const known = answer.status < 500 || /no price/.test(answer.text);
          expect(
            known,
            `${path}?${search} ${JSON.stringify(body)} → ${answer.status} ${answer.text}`,
          ).to.equal(true);
          if (answer.status >= 400) expect(answer.body['error'], answer.text).to.be.a('string');
        }),
        { numRuns: RUNS },
      );
      expect(
        api.lines.filter(({ level, fields }) => level === 'error' && fields['code'] !== 'UNAVAILABLE'),
      ).to.deep.equal([]);
    });
  }
});
