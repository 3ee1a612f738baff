import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { z } from 'zod';
import { eventually } from '../../../dev/support/eventually.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { created, route } from '../../../src/api/route.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { type Deps, type TxDeps, txDeps } from '../../../src/services/deps.ts';
import { createCustomer } from '../../../src/services/merchants/customers.ts';
import { savepoint, type Tx } from '../../../src/services/transact.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import { actorsInto, kind, post, rows } from '../../support/once.ts';

const IN_TRANSACTION = `from pg_stat_activity where datname = current_database()
  and state like 'idle in transaction%'`;

/** What the next change does, in the transaction of its request. */
type Deed = (tx: Tx, merchantId: string, inside: Inside) => Promise<unknown>;
type Inside = { readonly deps: TxDeps; readonly prepared: unknown };

describe('a use case under an Idempotency-Key', function () {
  this.timeout(30_000);
  let api: TestApi;
  let deed: Deed = async () => undefined;
  let ahead: (deps: Deps) => Promise<unknown> = async () => undefined;
  const started: string[] = [];

  const deedRoute = (path: string, extraMs: number) =>
    route({
      method: 'post',
      path,
      operationId: path.slice(1),
      auth: 'merchant',
      scope: 'read',
      tag: 'Test',
      statuses: [201],
      summary: 'Test',
      extraMs,
      response: z.strictObject({ done: z.string() }),
      prepare: async (deps) => await ahead(deps),
      apply: async (tx, deps, { caller, prepared }) => {
        const done = await deed(tx, caller.merchantId, { deps, prepared });
        return created({ done: String(done ?? 'yes') });
      },
    });

  before(async () => {
    api = await startTestApi({
      routes: [...ROUTES, deedRoute('/deed', 3_000), deedRoute('/late', 0)],
      poolSize: 3,
      actors: actorsInto(started),
    });
    await post(api, '/webhook-endpoints', randomUUID(), { url: 'http://127.0.0.1:9/', events: '*' });
  });
  after(() => api.stop());
  beforeEach(() => {
    started.length = 0;
    ahead = async () => undefined;
  });

  const run = async (once: string, next: Deed) => {
    deed = next;
    return await post(api, '/deed', once);
  };
  const customer = (tx: Tx, merchantId: string, externalId: string) => {
    const texts = { externalId, email: null, name: null, metadata: {} };
    return createCustomer(tx, txDeps(api.deps), { merchantId, mode: 'test', ...texts });
  };
  const customers = async (externalId: string) =>
    (await rows(api, 'select 1 from customers where external_id = ?', [externalId])).length;
  const answers = async (once: string) =>
    (await rows(api, 'select 1 from idempotency_answers where key = ?', [once])).length;
  const trace = async (once: string) => [await customers(once), await answers(once), started.length];

  it('has no other way to the database than the transaction of its answer, and none to what it would have to wait for', async () => {
    const answer = await run(randomUUID(), async (_tx, _merchantId, { deps }) => {
      // @ts-expect-error: not for a use case that gets its transaction
      expect([deps.orm, deps.prices, deps.actors]).to.deep.equal([undefined, undefined, undefined]);
    });
    expect(kind(answer)).to.equal('201');
  });

  it('reads what it wrote, and nobody else does before its answer is stored', async () => {
    const once = randomUUID();
    const answer = await run(once, async (tx, merchantId) => {
      const made = await customer(tx, merchantId, once);
      await savepoint(tx, async ({ em }) => {
        await em.execute("update customers set name = 'x' where id = ?", [made.id]);
      });
      const seen = 'select name from customers where id = ?';
      const [row] = await tx.em.execute<{ name: string }[]>(seen, [made.id]);
      expect(await customers(once)).to.equal(0);
      return row?.name;
    });
    expect([answer.body['done'], kind(answer)]).to.deep.equal(['x', '201']);
    await eventually('the start', () => started.length === 1);
    expect(await trace(once)).to.deep.equal([1, 1, 1]);
  });

  it('leaves nothing but its answer when it refuses with 409, and nothing at all when it fails', async () => {
    for (const [thrown, expected] of [
      [new ApiError('CUSTOMER_EXISTS', 'No.'), ['409 CUSTOMER_EXISTS', [0, 1, 0]]],
      [new ApiError('VALIDATION_ERROR', 'No.'), ['400 VALIDATION_ERROR', [0, 0, 0]]],
      [new ApiError('NOT_FOUND', 'No.'), ['404 NOT_FOUND', [0, 0, 0]]],
      [new Error('a defect'), ['500 INTERNAL', [0, 0, 0]]],
      [Object.assign(new Error('deadlock detected'), { code: '40P01' }), ['503 UNAVAILABLE', [0, 0, 0]]],
    ] as const) {
      const once = randomUUID();
      const answer = await run(once, async (tx, merchantId) => {
        await customer(tx, merchantId, once);
        throw thrown;
      });
      expect([kind(answer), await trace(once)]).to.deep.equal(expected);
    }
  });

  it('holds no connection while it waits for the world outside, which is asked once for each effect', async () => {
    const once = randomUUID();
    const open = async () => (await rows(api, `select 1 ${IN_TRANSACTION}`)).length;
    let calls = 0;
    ahead = async () => {
      calls += 1;
      return await open();
    };
    const work: Deed = async (tx, merchantId, { prepared }) => {
      await customer(tx, merchantId, once);
      return prepared;
    };
    const [answer, again] = [await run(once, work), await run(once, work)];
    const told = [answer.body['done'], kind(again), again.text, calls];
    expect(told).to.deep.equal(['0', '201 again', answer.text, 1]);
    await eventually('the start', () => started.length === 1);
    expect(await trace(once)).to.deep.equal([1, 1, 1]);
  });

  it('ends with its own 503: the repetition hears that it is in flight, and after it carries out what it did not', async () => {
    const once = randomUUID();
    const enough = Promise.withResolvers<void>();
    deed = async (tx, merchantId) => {
      await customer(tx, merchantId, once);
      await enough.promise;
    };
    const late = await post(api, '/late', once);
    const meanwhile = await post(api, '/late', once);
    enough.resolve();
    expect([kind(late), kind(meanwhile)]).to.deep.equal(['503 UNAVAILABLE', '409 IDEMPOTENCY_CONFLICT']);
    const answer = await eventually('the answer', async () => {
      const next = await post(api, '/late', once);
      return next.status === 201 && next;
    });
    expect([kind(answer), kind(await post(api, '/late', once)), await customers(once)]).to.deep.equal([
      '201',
      '201 again',
      1,
    ]);
  });

  it('is a 503 when its connection is cut, at any step, and one effect when it is tried again', async () => {
    const cut = async () => void (await rows(api, `select pg_terminate_backend(pid) ${IN_TRANSACTION}`));
    for (const step of ['before', 'after'] as const) {
      const once = randomUUID();
      const answer = await run(once, async (tx, merchantId) => {
        if (step === 'after') await customer(tx, merchantId, once);
        else await tx.em.execute('select 1');
        await cut();
        if (step === 'before') await customer(tx, merchantId, once);
      });
      expect([kind(answer), await trace(once)]).to.deep.equal(['503 UNAVAILABLE', [0, 0, 0]]);
      const work: Deed = (tx, merchantId) => customer(tx, merchantId, once).then(({ id }) => id);
      const [retried, again] = [await run(once, work), await run(once, work)];
      expect([kind(retried), kind(again), again.text]).to.deep.equal(['201', '201 again', retried.text]);
      expect(await customers(once)).to.equal(1);
      started.length = 0;
    }
  });
});
