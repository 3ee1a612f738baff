import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { answerOnce, IdempotencyConflict, purgeAnswers } from '../../../src/services/idempotency.ts';
import { createKey, revokeKey } from '../../../src/services/merchants/keys.ts';
import { call, type TestApi } from '../../support/gateway.ts';
import { actorsInto, count, kind, post, rows } from '../../support/once.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { startTwo, type TwoProcesses } from '../two-processes.ts';

const DAY_MS = 24 * 3_600_000;
const CONFLICT = '409 IDEMPOTENCY_CONFLICT';

/** At two processes of one gateway over one database, by one clock. */
describe('a POST with an Idempotency-Key', function () {
  this.timeout(30_000);
  const started: string[] = [];
  let two: TwoProcesses;
  let api: TestApi;
  let other: TestApi;
  let clock: TwoProcesses['clock'];
  before(async () => {
    two = await startTwo({ actors: actorsInto(started) });
    ({ api, second: other, clock } = two);
  });
  after(() => two?.stop());

  const newEndpoint = (at: TestApi, once: string, key = api.keys.test) =>
    post(at, '/webhook-endpoints', once, { url: 'http://127.0.0.1:9/', events: '*' }, key);
  const newCustomer = (at: TestApi, once: string, key = api.keys.test) =>
    post(at, '/customers', once, { external_id: once }, key);

  it('is carried out once; a repetition gets the same bytes and a mark, also from another process', async () => {
    const [once, { keys }] = [randomUUID(), await api.newMerchant()];
    await newEndpoint(api, randomUUID(), keys.test);
    started.length = 0;
    const answers = [
      await newCustomer(api, once, keys.test),
      await newCustomer(api, once, keys.test),
      await newCustomer(other, once, keys.test),
    ];
    expect(answers.map(kind), answers[0]?.text).to.deep.equal(['201', '201 again', '201 again']);
    expect(new Set(answers.map(({ text }) => text)).size).to.equal(1);
    expect(await rows(api, 'select 1 from customers where external_id = ?', [once])).to.have.length(1);
    expect(started, 'the actor of its event, after the commit').to.have.length(1);
  });

  it('is one effect and one body when it comes many times at once to two processes, and nobody else waits for it', async () => {
    const [once, before] = [randomUUID(), await count(api, 'webhook_endpoints')];
    const all = Array.from({ length: 30 }, (_, index) => newEndpoint(index % 2 ? api : other, once));
    expect(kind(await newCustomer(api, randomUUID()))).to.equal('201');
    const answers = await Promise.all(all);
    expect(answers.map(kind).filter((one) => one === '201')).to.have.length(1);
    for (const answer of answers) {
      expect(kind(answer)).to.be.oneOf(['201', '201 again', CONFLICT]);
      if (answer.status !== 409) continue;
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(answer.body['error']).to.match(/still being worked on.*again/i);
    }
    answers.push(await newEndpoint(other, once));
    expect(answers.at(-1)).to.have.property('status', 201);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).to.equal(1);
    expect(await count(api, 'webhook_endpoints')).to.equal(before + 1);
  });

  it('is looked for under its lock: whoever comes right behind the first one gets its answer or a conflict', async () => {
    const of = { merchantId: api.merchant.id, mode: 'test', method: 'POST', path: '/x' } as const;
    const apply = async () => ({ status: 201, body: randomUUID() });
    const work = { prepare: undefined, apply, keptRefusal: () => undefined };
    for (let turn = 0; turn < 10; turn += 1) {
      const request = { ...of, key: randomUUID(), requestHash: '0' };
      const settled = await Promise.allSettled(
        Array.from({ length: 16 }, (_, index) => answerOnce((index % 2 ? api : other).deps, request, work)),
      );
      const bodies = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.body] : []));
      expect(new Set(bodies).size).to.equal(1);
      for (const one of settled)
        if (one.status === 'rejected') expect(one.reason).to.be.instanceOf(IdempotencyConflict);
    }
  });

  it('is a conflict with another body or query, byte by byte, also where no body is taken, and the first answer stays', async () => {
    const once = randomUUID();
    const body = `{"external_id":"${once}"}`;
    const first = await post(api, '/customers', once, body);
    const changed = await post(api, '/customers', once, `${body} `);
    expect([kind(changed), changed.headers.get('retry-after')]).to.deep.equal([CONFLICT, null]);
    expect(changed.body['error']).to.match(/another request/);
    expect(kind(await post(api, '/customers?x=1', once, body))).to.equal(CONFLICT);
    const again = await post(api, '/customers', once, body);
    expect([kind(again), again.text]).to.deep.equal(['201 again', first.text]);

    const endpoint = (await newEndpoint(api, randomUUID())).body['id'];
    const path = `/webhook-endpoints/${endpoint}/test`;
    const tests = [
      await post(api, path, once),
      await post(api, path, once),
      await post(api, path, once, '{}'),
    ];
    expect(tests.map(kind)).to.deep.equal(['201', '201 again', CONFLICT]);
    expect(await rows(api, 'select 1 from events where subject_id = ?', [endpoint])).to.have.length(1);
  });

  it('counts for one merchant, mode and path alone, whichever key or session of the merchant sends it', async () => {
    const once = randomUUID();
    const merchant = await api.newMerchant();
    const endpoint = async () => (await newEndpoint(api, randomUUID())).body['id'];
    const answers = [
      await newCustomer(api, once),
      await newCustomer(api, once, api.keys.live),
      await newCustomer(api, once, merchant.keys.test),
      await newEndpoint(api, once),
      await post(api, `/webhook-endpoints/${await endpoint()}/test`, once),
      await post(api, `/webhook-endpoints/${await endpoint()}/test`, once),
    ];
    expect(answers.map(kind)).to.deep.equal(Array(6).fill('201'));
    const { id, key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    const spelled = await post(api, '/customers/', once, { external_id: once }, key);
    expect(kind(spelled), 'another key, and another spelling of the path').to.equal('201 again');
    const secret = await newEndpoint(api, once, key);
    expect([kind(secret), secret.body['secret']], 'a secret goes to its own key alone').to.deep.equal([
      CONFLICT,
      undefined,
    ]);
    expect(kind(await newEndpoint(api, once))).to.equal('201 again');
    await revokeKey(api.deps, { keyId: id });
    expect((await newCustomer(other, once, key)).status, 'a key that was revoked').to.equal(401);
    const cookie = await signIn(api, await newUser(api));
    for (const [mode, first] of [
      ['test', answers[0]],
      ['live', answers[1]],
    ] as const) {
      const headers = { Cookie: cookie, 'Idempotency-Key': once, 'X-Mode': mode };
      const bySession = await call(`${api.url}/customers`, { headers, body: { external_id: once } });
      expect([kind(bySession), bySession.text]).to.deep.equal(['201 again', first?.text]);
    }
  });

  it('needs 1 to 255 visible characters', async () => {
    for (const bad of ['', 'a b', 'é', 'x'.repeat(256)]) {
      const answer = await post(api, '/customers', bad, { external_id: randomUUID() });
      expect([bad, kind(answer)]).to.deep.equal([bad, '400 VALIDATION_ERROR']);
      expect(answer.body['error']).to.match(/Idempotency-Key/);
    }
    expect(kind(await post(api, '/customers', '!'.repeat(255), { external_id: randomUUID() }))).to.equal(
      '201',
    );
    const twice = new Headers({ Authorization: `Bearer ${api.keys.test}` });
    for (const value of ['a', 'b']) twice.append('Idempotency-Key', value);
    expect((await fetch(`${api.url}/customers`, { method: 'POST', headers: twice })).status).to.equal(400);
  });

  it('leaves no 400, 401, 404 and 415 behind: put right, the request is carried out under the same key', async () => {
    const once = randomUUID();
    const text = { 'Idempotency-Key': once, 'Content-Type': 'text/plain' };
    const refused = [
      await post(api, '/customers', once, { email: 'no address' }),
      await post(api, '/customers', once, '{"external_id":'),
      await newCustomer(api, once, 'sk_test_unknown'),
      await call(`${api.url}/customers`, { key: api.keys.test, headers: text, body: 'x' }),
      await post(api, `/webhook-endpoints/${once}/test`, once),
      await post(api, '/test/simulate-deposit', once, { customer_id: once }),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([400, 400, 401, 415, 404, 404]);
    expect(await rows(api, 'select 1 from idempotency_answers where key = ?', [once])).to.deep.equal([]);
    expect(kind(await newCustomer(api, once))).to.equal('201');
  });

  it('keeps the 409 of the use case, even when what stood in its way is gone', async () => {
    const [once, name] = [randomUUID(), randomUUID()];
    await newCustomer(api, name);
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
    expect([secret.slice(0, 6), again.body['secret'], kind(again)]).to.deep.equal([
      'whsec_',
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

  it('is forgotten 24 hours later to the millisecond, whether or not its row was purged', async () => {
    const once = randomUUID();
    const makes = async () => kind(await newEndpoint(api, once));
    expect(await makes()).to.equal('201');
    clock.ms += DAY_MS - 1;
    expect(await makes()).to.equal('201 again');
    clock.ms += 1;
    expect([await makes(), await makes()]).to.deep.equal(['201', '201 again']);
    expect(await purgeAnswers(api.deps)).to.be.greaterThan(0);
    expect(await makes()).to.equal('201 again');
    clock.ms += DAY_MS;
    expect(await purgeAnswers(api.deps)).to.equal(1);
    expect(await count(api, 'idempotency_answers')).to.equal(0);
  });
});
