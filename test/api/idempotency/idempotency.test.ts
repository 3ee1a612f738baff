import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { answerOnce, IdempotencyConflict } from '../../../src/services/idempotency.ts';
import { createKey } from '../../../src/services/merchants/keys.ts';
import { call, type TestApi } from '../../support/gateway.ts';
import { count, kind, post, rows } from '../../support/once.ts';
import { newUser, signIn } from '../../support/sign-in.ts';
import { newEndpoint, startTwo, type TwoProcesses } from './two-processes.ts';

describe('a POST with an Idempotency-Key', function () {
  this.timeout(30_000);
  let two: TwoProcesses;
  let api: TestApi;
  let other: TestApi;

  before(async () => {
    two = await startTwo();
    ({ api, other } = two);
  });
  after(() => two?.stop());

  it('is carried out once; a repetition gets the same bytes and a mark, also from another process', async () => {
    const [once, before] = [randomUUID(), await count(api, 'customers')];
    const first = await post(api, '/customers', once, { external_id: once });
    const again = [
      await post(api, '/customers', once, { external_id: once }),
      await post(other, '/customers', once, { external_id: once }, api.keys.test),
    ];
    expect([first, ...again].map(kind), first.text).to.deep.equal(['201', '201 again', '201 again']);
    expect(new Set([first, ...again].map(({ text }) => text)).size).to.equal(1);
    expect(again[0]?.headers.get('content-type')).to.equal(first.headers.get('content-type'));
    expect(await count(api, 'customers')).to.equal(before + 1);
  });

  it('is one effect and one body when it comes 50 times at once to two processes, and nobody else waits for it', async () => {
    const [once, before] = [randomUUID(), await count(api, 'webhook_endpoints')];
    const body = { url: 'http://127.0.0.1:9/', events: '*' };
    const all = Array.from({ length: 50 }, (_, index) =>
      post(index % 2 ? api : other, '/webhook-endpoints', once, body, api.keys.test),
    );
    const beside = await post(api, '/customers', randomUUID(), { external_id: randomUUID() });
    expect(kind(beside)).to.equal('201');
    const answers = await Promise.all(all);
    expect(answers.filter((answer) => kind(answer) === '201')).to.have.length(1);
    for (const answer of answers)
      expect(kind(answer)).to.be.oneOf(['201', '201 again', '409 IDEMPOTENCY_CONFLICT']);
    for (const answer of answers.filter(({ status }) => status === 409)) {
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(answer.body['error']).to.match(/still being worked on.*again/i);
    }
    answers.push(
      await post(api, '/webhook-endpoints', once, body),
      await post(other, '/webhook-endpoints', once, body, api.keys.test),
    );
    expect(answers.slice(-2).map(kind)).to.deep.equal(['201 again', '201 again']);
    expect(new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text)).size).to.equal(1);
    expect(await count(api, 'webhook_endpoints')).to.equal(before + 1);
  });

  it('is looked for under its lock: whoever comes right behind the first one gets its answer or a conflict', async () => {
    for (let turn = 0; turn < 30; turn += 1) {
      const request = {
        merchantId: api.merchant.id,
        mode: 'test',
        method: 'POST',
        path: '/x',
        key: randomUUID(),
        requestHash: '0',
      } as const;
      const apply = async () => ({ status: 201, body: randomUUID() });
      const work = { prepare: undefined, apply, keptRefusal: () => undefined };
      const claims = Array.from({ length: 16 }, (_, index) =>
        answerOnce((index % 2 ? api : other).deps, request, work),
      );
      const settled = await Promise.allSettled(claims);
      const bodies = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value.body] : []));
      expect(new Set(bodies).size).to.equal(1);
      for (const one of settled)
        if (one.status === 'rejected') expect(one.reason).to.be.instanceOf(IdempotencyConflict);
    }
  });

  it('is a conflict with another body or query, byte by byte, and the first answer stays', async () => {
    const once = randomUUID();
    const body = `{"external_id":"${once}"}`;
    const first = await post(api, '/customers', once, body);
    const changed = [
      await post(api, '/customers', once, `${body} `),
      await post(api, '/customers?x=1', once, body),
    ];
    expect(changed.map(kind)).to.deep.equal(['409 IDEMPOTENCY_CONFLICT', '409 IDEMPOTENCY_CONFLICT']);
    expect(changed[0]?.body['error']).to.match(/another request/);
    expect(changed[0]?.headers.get('retry-after')).to.equal(null);
    const again = await post(api, '/customers', once, body);
    expect([kind(again), again.text]).to.deep.equal(['201 again', first.text]);
  });

  it('counts what is sent to a route that takes no body, too', async () => {
    const [once, endpoint] = [randomUUID(), (await newEndpoint(api, randomUUID())).body['id']];
    const path = `/webhook-endpoints/${endpoint}/test`;
    const answers = [
      await post(api, path, once),
      await post(api, path, once),
      await post(api, path, once, '{}'),
    ];
    expect(answers.map(kind)).to.deep.equal(['201', '201 again', '409 IDEMPOTENCY_CONFLICT']);
    expect(await rows(api, 'select 1 from events where subject_id = ?', [endpoint])).to.have.length(1);
  });

  it('counts for one merchant, mode and path alone', async () => {
    const once = randomUUID();
    const merchant = await api.newMerchant();
    const ids = [
      (await newEndpoint(api, randomUUID())).body['id'],
      (await newEndpoint(api, randomUUID())).body['id'],
    ];
    const answers = [
      await post(api, '/customers', once, { external_id: once }),
      await post(api, '/customers', once, { external_id: once }, api.keys.live),
      await post(api, '/customers', once, { external_id: once }, merchant.keys.test),
      await newEndpoint(api, once),
      await post(api, `/webhook-endpoints/${ids[0]}/test`, once),
      await post(api, `/webhook-endpoints/${ids[1]}/test`, once),
    ];
    expect(answers.map(kind)).to.deep.equal(Array(6).fill('201'));
    // The same path in another spelling is the same path,
    // and another key of the merchant is the same merchant.
    const { key } = await createKey(api.deps, { merchantId: api.merchant.id, mode: 'test' });
    expect(kind(await post(api, '/customers/', once, { external_id: once }, key))).to.equal('201 again');
  });

  it('counts alike for a session and a key of the merchant in one mode, and not in the other', async () => {
    const once = randomUUID();
    const cookie = await signIn(api, await newUser(api));
    const bySession = (mode: Record<string, string>) =>
      call(`${api.url}/customers`, {
        headers: { Cookie: cookie, 'Idempotency-Key': once, ...mode },
        body: { external_id: once },
      });
    const [session, key] = [
      await bySession({ 'X-Mode': 'test' }),
      await post(api, '/customers', once, { external_id: once }),
    ];
    expect([kind(session), kind(key), key.text]).to.deep.equal(['201', '201 again', session.text]);
    const [live, again] = [
      await bySession({}),
      await post(api, '/customers', once, { external_id: once }, api.keys.live),
    ];
    expect([kind(live), kind(again), again.text]).to.deep.equal(['201', '201 again', live.text]);
  });

  it('needs 1 to 255 visible characters; other methods do not look at it', async () => {
    for (const bad of ['', 'a b', 'é', 'x'.repeat(256), 'tab\there']) {
      const answer = await post(api, '/customers', bad, { external_id: randomUUID() });
      expect([bad, kind(answer)]).to.deep.equal([bad, '400 VALIDATION_ERROR']);
      expect(answer.body['error']).to.match(/Idempotency-Key/);
    }
    for (const good of ['~', '!'.repeat(255), `"{'?:${randomUUID()}`]) {
      expect(kind(await post(api, '/customers', good, { external_id: randomUUID() }))).to.equal('201');
    }
    expect(
      (await call(`${api.url}/customers`, { key: api.keys.test, headers: { 'Idempotency-Key': 'a b' } }))
        .status,
    ).to.equal(200);
    const twice = new Headers({ Authorization: `Bearer ${api.keys.test}` });
    for (const value of ['a', 'b']) twice.append('Idempotency-Key', value);
    expect((await fetch(`${api.url}/customers`, { method: 'POST', headers: twice })).status).to.equal(400);
  });
});
