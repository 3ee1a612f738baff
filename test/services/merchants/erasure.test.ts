import { randomBytes, randomUUID } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { createSecretBox } from '../../../src/base/secret-box.ts';
import { Deposit } from '../../../src/db/entities/index.ts';
import { applyTransition } from '../../../src/services/deposits/transition.ts';
import { eraseCustomer } from '../../../src/services/merchants/erasure.ts';
import { transact } from '../../../src/services/transact.ts';
import { type Answer, call, startTestApi, type TestApi } from '../../support/gateway.ts';

const NAMES = {
  external_id: 'user-4711-ext',
  email: 'ann.secret@person.example',
  name: 'Ann Secretname',
  metadata: { iban: 'DE00-SECRET' },
};
const SECRETS = ['4711', 'ann.secret', 'Secretname', 'DE00', 'order-9911', 'for Ann', 'DE-ORDER'];

describe('the erasure of a customer', function () {
  this.timeout(60_000);
  let api: TestApi;
  let customerId: string;
  const post = (path: string, body: object, headers = {}): Promise<Answer> =>
    call(`${api.url}${path}`, { key: api.keys.test, body, headers });
  const sql = (text: string, values: readonly unknown[] = []) =>
    api.deps.orm.em.fork().execute(text, [...values]);
  const once = { 'Idempotency-Key': 'the-customer' };

  before(async () => {
    api = await startTestApi();
    await post('/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['*'] });
    customerId = (await post('/customers', NAMES, once)).body['id'];
    const order = { external_id: 'order-9911', description: 'for Ann', metadata: { order: 'DE-ORDER' } };
    const link = await post('/request-payment', { customer_id: customerId, amount_usd: 10, ...order });
    // One that is told of otherwise than by its completion.
    const given = await post('/request-payment', { customer_id: customerId, amount_usd: 10, ...order });
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
    const rows = [
      ...(await sql('select * from customers')),
      ...(await sql('select * from payment_links')),
      ...(await sql(`select convert_from(body, 'UTF8') as body from events`)),
      ...(await sql('select response_body from webhook_attempts')),
      ...(await sql('select message from outbox')),
      ...(await sql('select * from operator_actions')),
    ];
    const em = api.deps.orm.em.fork();
    const answers = await em.execute<{ id: string; body_sealed: Buffer }[]>(
      'select id, body_sealed from idempotency_answers',
    );
    return (
      JSON.stringify(rows) +
      answers.map(({ id, body_sealed: sealed }) => api.deps.secretBox.open(sealed, id)).join()
    );
  };

  it('is the only change that the database lets an event have', async () => {
    for (const change of [
      `body = convert_to('{}', 'UTF8')`,
      `body = convert_to(erased_event(body, type, '${customerId}')::text, 'UTF8')`,
    ])
      expect(await sql(`update events set ${change}`).catch((error: Error) => error.message)).to.match(
        /never changed or removed/,
      );
  });

  it('leaves no name in any row, and every amount', async () => {
    const balance = (await call(`${api.url}/balance`, { key: api.keys.test })).body['balances'];
    const before = await everything();
    for (const secret of SECRETS) expect(before).to.contain(secret);
    const erased = await eraseCustomer(api.deps, { customerId, reason: 'asked for it' });
    expect([erased.customerId, erased.answers]).to.deep.equal([customerId, 1]);
    expect(erased.events).to.equal(6);
    const after = await everything();
    for (const secret of SECRETS) expect(after).to.not.contain(secret);
    const view = (await call(`${api.url}/customers/${customerId}`, { key: api.keys.test })).body;
    expect([
      view['external_id'],
      view['email'],
      view['name'],
      view['metadata'],
      view['deposit_count'],
    ]).to.deep.equal([`erased-${customerId}`, null, null, {}, 1]);
    expect((await call(`${api.url}/balance`, { key: api.keys.test })).body['balances']).to.deep.equal(
      balance,
    );
    const found = await call(`${api.url}/customers?search=secret`, { key: api.keys.test });
    expect(found.body['data']).to.deep.equal([]);
    const again = await post('/customers', NAMES, once);
    expect([again.status, again.body['id'], again.body['email']], 'the same request again').to.deep.equal([
      201,
      customerId,
      null,
    ]);
  });

  it('waits for what was begun before it, and takes the names out of that as well', async () => {
    const early = {
      external_id: 'early-4711',
      email: 'early.secret@person.example',
      name: 'Early Secretname',
    };
    const { id } = (await post('/customers', early)).body as { id: string };
    const seen = await post('/test/simulate-deposit', {
      customer_id: id,
      currency: 'BNB',
      amount: '1',
      outcome: 'detected',
    });
    expect(seen.status).to.equal(201);
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const moved = transact(api.deps, async (tx) => {
      const deposit = await tx.em.findOneOrFail(Deposit, seen.body['id'], {
        lockMode: LockMode.PESSIMISTIC_WRITE,
      });
      await applyTransition(tx, api.deps, deposit, { to: 'confirming', headNumber: null });
      written.resolve();
      await held.promise;
    });
    await Promise.race([written.promise, moved]);
    const erasing = eraseCustomer(api.deps, { customerId: id, reason: 'asked for it' });
    const isErased = async () =>
      ((await sql('select 1 from customers where id = ? and email is null', [id])) as unknown[]).length === 1;
    await eventually('the customer without names', isErased);
    // Longer than the rest of the erasure takes where nothing holds it up.
    await Promise.race([erasing, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    held.resolve();
    await moved;
    await erasing;
    expect(await everything()).to.not.match(/early-4711|early\.secret|Early Secretname/);
  });

  it('can be repeated and changes nothing more', async () => {
    expect(await eraseCustomer(api.deps, { customerId, reason: 'again' })).to.deep.equal({
      customerId,
      events: 0,
      answers: 0,
    });
  });

  it('passes over an answer that no key opens, which tells nobody anything', async () => {
    await post('/customers', { external_id: 'another' }, { 'Idempotency-Key': 'lost' });
    const [row] = await api.deps.orm.em
      .fork()
      .execute<{ id: string }[]>(`select id from idempotency_answers where key = 'lost'`);
    const lost = createSecretBox(randomBytes(32)).seal('{}', row?.id ?? '');
    await sql('update idempotency_answers set body_sealed = ? where id = ?', [lost, row?.id]);
    expect(await eraseCustomer(api.deps, { customerId, reason: 'again' })).to.deep.equal({
      customerId,
      events: 0,
      answers: 0,
    });
  });

  it('lets the database refuse everything else of an event as before', async () => {
    for (const change of [
      `body = convert_to('{"event":"x","data":{}}', 'UTF8')`,
      'sequence = sequence + 1',
      `type = 'x'`,
    ])
      expect(await sql(`update events set ${change}`).catch((error: Error) => error.message)).to.match(
        /never changed or removed|events_id_check/,
      );
    expect(await sql('delete from events').catch((error: Error) => error.message)).to.match(
      /never changed or removed|foreign key/,
    );
  });

  it('finds its mark free: no customer can be given that of another one', async () => {
    const body = { external_id: `erased-${randomUUID()}` };
    const answer = await call(`${api.url}/customers`, { key: api.keys.live, body });
    expect([answer.status, answer.body['error']]).to.deep.equal([
      400,
      'external_id must not be the mark of an erased customer.',
    ]);
  });

  it('is refused for a customer that nobody has', async () => {
    const refused = await eraseCustomer(api.deps, { customerId: 'nobody', reason: 'x' }).catch(
      (error: Error) => error.message,
    );
    expect(refused).to.match(/no customer nobody/);
  });
});
