import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { purgeAnswers } from '../../../src/services/idempotency.ts';
import { createKey, revokeKey } from '../../../src/services/merchants/keys.ts';
import { call, type TestApi } from '../../support/gateway.ts';
import { count, kind, post, rows } from '../../support/once.ts';
import { newEndpoint, startTwo, type TwoProcesses } from './two-processes.ts';

const DAY_MS = 24 * 3_600_000;

describe('a POST that is remembered under its Idempotency-Key', function () {
  this.timeout(30_000);
  let two: TwoProcesses;
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    two = await startTwo();
    ({ api, other } = two);
  });
  after(() => two?.stop());
  afterEach(() => {
    two.clock.aheadMs = 0;
  });

  it('stores no 400, 401, 404 and 415: put right, the request is carried out under the same key', async () => {
    const once = randomUUID();
    const refused = [
      await post(api, '/customers', once, { email: 'no address' }),
      await post(api, '/customers', once, '{"external_id":'),
      await post(api, '/customers', once, { external_id: once }, 'sk_test_unknown'),
      await call(`${api.url}/customers`, {
        key: api.keys.test,
        headers: { 'Idempotency-Key': once, 'Content-Type': 'text/plain' },
        body: 'x',
      }),
      await post(api, '/webhook-endpoints', once, { url: 'http://10.0.0.1/', events: '*' }),
      await post(api, `/webhook-endpoints/${once}/test`, once),
      await post(api, '/webhook-endpoints/none/test', once),
      await post(api, '/test/simulate-deposit', once, { customer_id: once }),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([400, 400, 401, 415, 400, 404, 404, 404]);
    expect(await rows(api, 'select 1 from idempotency_answers where key = ?', [once])).to.deep.equal([]);
    expect(kind(await post(api, '/customers', once, { external_id: once }))).to.equal('201');
    expect(kind(await newEndpoint(api, once))).to.equal('201');
  });

  it('stores the 409 of the use case, even when what stood in its way is gone', async () => {
    const [once, name] = [randomUUID(), randomUUID()];
    await post(api, '/customers', randomUUID(), { external_id: name });
    const first = await post(api, '/customers', once, { external_id: name });
    expect([kind(first), first.body['field']]).to.deep.equal(['409 CUSTOMER_EXISTS', 'external_id']);
    await rows(api, 'update customers set external_id = ? where external_id = ?', [randomUUID(), name]);
    const again = await post(api, '/customers', once, { external_id: name });
    expect([kind(again), again.text]).to.deep.equal(['409 again CUSTOMER_EXISTS', first.text]);
  });

  it('gives a secret again exactly, and keeps it where nobody can read it', async () => {
    const once = randomUUID();
    const [first, again] = [await newEndpoint(api, once), await newEndpoint(api, once)];
    const secret = String(first.body['secret']);
    expect([secret.startsWith('whsec_'), again.body['secret'], kind(again)]).to.deep.equal([
      true,
      secret,
      '201 again',
    ]);
    const [row] = await rows(api, 'select * from idempotency_answers where key = ?', [once]);
    const stored = Buffer.from(row?.['body_sealed'] as Uint8Array);
    for (const text of [secret, secret.slice(6), 'whsec_'])
      expect(stored.includes(text), text).to.equal(false);
    expect(api.deps.secretBox.open(stored, String(row?.['id']))).to.equal(first.text);
    expect(() => api.deps.secretBox.open(stored, randomUUID())).to.throw();
  });

  it('is not answered again to a key that was revoked, nor to another merchant', async () => {
    const once = randomUUID();
    const { id, key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    expect(kind(await post(api, '/customers', once, { external_id: once }, key))).to.equal('201');
    await revokeKey(api.deps, { keyId: id });
    expect((await post(other, '/customers', once, { external_id: once }, key)).status).to.equal(401);
  });

  it('gets the old answer after its customer went on', async () => {
    const once = randomUUID();
    const made = await post(api, '/customers', once, { external_id: once });
    const paid = await post(api, '/test/simulate-deposit', once, { customer_id: made.body['id'] });
    expect(kind(paid)).to.equal('201');
    const now = await call(`${api.url}/customers/${made.body['id']}`, { key: api.keys.test });
    expect(now.body['deposit_count']).to.equal(1);
    expect((await post(api, '/customers', once, { external_id: once })).text).to.equal(made.text);
    const again = await post(api, '/test/simulate-deposit', once, { customer_id: made.body['id'] });
    expect([kind(again), again.text]).to.deep.equal(['201 again', paid.text]);
    expect(await rows(api, 'select 1 from deposits where customer_id = ?', [made.body['id']])).to.have.length(
      1,
    );
  });

  it('starts its actors once, after the commit', async () => {
    const once = randomUUID();
    const merchant = await api.newMerchant();
    await newEndpoint(api, once, merchant.keys.test);
    two.started.length = 0;
    for (let turn = 0; turn < 3; turn += 1)
      await post(api, '/customers', once, { external_id: once }, merchant.keys.test);
    expect(two.started).to.have.length(1);
    const deliveries = await rows(
      api,
      "select d.id from webhook_deliveries d join events e on e.id = d.event_id where e.merchant_id = ? and e.type = 'customer.created'",
      [merchant.id],
    );
    expect(deliveries).to.have.length(1);
  });

  it('is forgotten 24 hours later to the millisecond, whether or not its row was purged', async () => {
    const once = randomUUID();
    const makes = async () => kind(await newEndpoint(api, once));
    const startedAt = Date.now();
    expect(await makes()).to.equal('201');
    const [row] = await rows(
      api,
      'select extract(epoch from expires_at - created_at)::float8 as s from idempotency_answers where key = ?',
      [once],
    );
    expect(row?.['s']).to.equal(DAY_MS / 1_000);
    two.clock.aheadMs = DAY_MS - (Date.now() - startedAt) - 1_000;
    expect(await makes()).to.equal('201 again');
    two.clock.aheadMs = DAY_MS;
    expect(await makes()).to.equal('201');
    expect(await makes()).to.equal('201 again');
    expect(await purgeAnswers(api.deps)).to.be.greaterThan(0);
    expect(await makes()).to.equal('201 again');
    two.clock.aheadMs = 2 * DAY_MS;
    expect(await purgeAnswers(api.deps)).to.equal(1);
    expect(await count(api, 'idempotency_answers')).to.equal(0);
  });
});
