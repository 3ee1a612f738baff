import { randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { eraseCustomer } from '../../../src/services/merchants/erasure.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';
import { refusalOf } from '../../support/refusals.ts';

const NAMES = {
  external_id: 'user-4711-ext',
  email: 'ann.secret@person.example',
  name: 'Ann Secretname',
  metadata: { iban: 'DE00-SECRET' },
};
const SECRETS = ['4711', 'ann.secret', 'Secretname', 'DE00', 'order-9911', 'for Ann', 'DE-ORDER'];
const ASKED = { reason: 'asked for it' };

describe('the erasure of a customer', function () {
  this.timeout(60_000);
  let api: TestApi;
  let customerId: string;
  const post = (path: string, body: object, headers = {}): Promise<Answer> =>
    call(`${api.url}${path}`, { key: api.keys.test, body, headers });
  const get = async (path: string) => (await call(`${api.url}${path}`, { key: api.keys.test })).body;
  const sql = (text: string, values: readonly unknown[] = []) =>
    api.deps.orm.em.fork().execute<Record<string, unknown>[]>(text, [...values]);
  const once = { 'Idempotency-Key': 'the-customer' };

  before(async () => {
    api = await startTestApi();
    await post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] });
    customerId = (await post('/customers', NAMES, once)).body['id'];
    const order = { external_id: 'order-9911', description: 'for Ann', metadata: { order: 'DE-ORDER' } };
    const asked = { customer_id: customerId, amount_usd: 10, ...order };
    const link = await post('/request-payment', asked);
    // One that is told of otherwise than by its completion.
    const given = await post('/request-payment', asked);
    expect((await post(`/payment-links/${given.body['id']}/cancel`, {})).status).to.equal(200);
    const paid = { customer_id: customerId, amount: '10', payment_token: link.body['token'], events: 'full' };
    expect((await post('/test/simulate-deposit', paid)).status).to.equal(201);
    await sql(`insert into webhook_attempts (delivery_id, round, number, started_at, finished_at,
      response_body)
      select id, 1, 1, now(), now(), 'hello ann.secret' from webhook_deliveries`);
  });
  after(() => api.stop());

  /** Every text of every table that says something of a customer. */
  const everything = async (): Promise<string> => {
    const rows = [];
    for (const text of [
      'select * from customers',
      'select * from payment_links',
      `select convert_from(body, 'UTF8') as body from events`,
      'select response_body from webhook_attempts',
      'select message from outbox',
      'select * from operator_actions',
    ])
      rows.push(...(await sql(text)));
    const answers = await sql('select id, body_sealed from idempotency_answers');
    const open = (row: Record<string, unknown>) =>
      api.deps.secretBox.open(row['body_sealed'] as Buffer, String(row['id']));
    return JSON.stringify(rows) + answers.map(open).join();
  };

  it('leaves no name in any row, and every amount, and changes nothing more when it is repeated', async () => {
    const { balances } = await get('/balance');
    const before = await everything();
    for (const secret of SECRETS) expect(before).to.contain(secret);
    const erased = { customerId, events: 6, answers: 1 };
    expect(await eraseCustomer(api.deps, { customerId, ...ASKED })).to.deep.equal(erased);
    const after = await everything();
    for (const secret of SECRETS) expect(after).to.not.contain(secret);
    expect(await get(`/customers/${customerId}`)).to.deep.include({
      external_id: `erased-${customerId}`,
      email: null,
      name: null,
      metadata: {},
      deposit_count: 1,
    });
    expect((await get('/balance'))['balances']).to.deep.equal(balances);
    expect((await get('/customers?search=secret'))['data']).to.deep.equal([]);
    const again = await post('/customers', NAMES, once);
    expect([again.status, again.body['id'], again.body['email']]).to.deep.equal([201, customerId, null]);
    const none = { customerId, events: 0, answers: 0 };
    expect(await eraseCustomer(api.deps, { customerId, ...ASKED })).to.deep.equal(none);
    expect((await refusalOf(eraseCustomer(api.deps, { customerId: 'nobody', ...ASKED }))).message).to.match(
      /no customer nobody/,
    );
  });

  it('waits for what was begun before it, and takes the names out of that as well', async () => {
    const early = {
      external_id: 'early-4711',
      email: 'early.secret@person.example',
      name: 'Early Secretname',
    };
    const { id } = (await post('/customers', early)).body as { id: string };
    const money = { customer_id: id, currency: 'BNB', amount: '1', outcome: 'detected' };
    const seen = await post('/test/simulate-deposit', money);
    expect(seen.status).to.equal(201);
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const moved = transact(api.deps, async (tx) => {
      const lockMode = LockMode.PESSIMISTIC_WRITE;
      const deposit = await tx.em.findOneOrFail(Deposit, seen.body['id'], { lockMode });
      await applyTransition(tx, api.deps, deposit, { to: 'confirming', headNumber: null });
      written.resolve();
      await held.promise;
    });
    await Promise.race([written.promise, moved]);
    const erasing = eraseCustomer(api.deps, { customerId: id, ...ASKED });
    await eventually('the customer without names', async () => {
      const rows = await sql('select 1 from customers where id = ? and email is null', [id]);
      return rows.length === 1;
    });
    // Room for an erasure that would not wait; one that does is not over before the other one.
    await Promise.race([erasing, new Promise((resolve) => setTimeout(resolve, 300))]);
    held.resolve();
    await moved;
    await erasing;
    expect(await everything()).to.not.match(/early-4711|early\.secret|Early Secretname/);
  });

  it('is the only change that the database lets an event have', async () => {
    for (const change of [
      `update events set body = convert_to('{}', 'UTF8')`,
      `update events set body = convert_to(erased_event(body, type, '${randomUUID()}')::text, 'UTF8')`,
      'update events set sequence = sequence + 1',
      `update events set type = 'x'`,
      'delete from events',
    ])
      expect(await sql(change).catch((error: Error) => error.message), change).to.match(
        /never changed or removed|events_id_check|foreign key/,
      );
  });
});
