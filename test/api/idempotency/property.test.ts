import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import { startTestApi, type TestApi, type TestMerchant } from '../../support/gateway.ts';
import { kind, post, rows } from '../../support/once.ts';

/**
 * One request of a plan. `wave`: requests of one wave are sent
 * at once, a wave begins when the one before is answered.
 */
type Step = { readonly wave: number; readonly key: number; readonly body: number; readonly process: number };

const step: fc.Arbitrary<Step> = fc.record({
  wave: fc.nat(3),
  key: fc.nat(2),
  body: fc.nat(2),
  process: fc.nat(1),
});

describe('requests with keys and bodies in any order, at once and one after the other', function () {
  this.timeout(60_000);
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let apis: readonly TestApi[] = [];

  before(async () => {
    database = await migratedDatabase();
    const first = await startTestApi({ databaseUrl: database.url });
    apis = [
      first,
      await startTestApi({ databaseUrl: database.url, deps: { secretBox: first.deps.secretBox } }),
    ];
  });
  after(async () => {
    for (const api of apis) await api.stop();
    await database?.drop();
  });

  const send = async (merchant: TestMerchant, prefix: string, { key, body, process }: Step) => {
    const api = apis[process] as TestApi;
    const answer = await post(api, '/webhook-endpoints', `${prefix}-${key}`, urlOf(body), merchant.keys.test);
    return { key, body, kind: kind(answer), text: answer.text };
  };
  const urlOf = (body: number) => ({ url: `http://127.0.0.1:9/${body}`, events: '*' });

  /** What must be true of the answers, whatever the order: a model of one cell for each key. */
  async function play(merchant: TestMerchant, prefix: string, steps: readonly Step[]): Promise<void> {
    const owner = new Map<number, { body: number; text: string }>();
    for (const wave of [0, 1, 2, 3]) {
      const requests = steps.filter((candidate) => candidate.wave === wave);
      const answers = await Promise.all(requests.map((request) => send(merchant, prefix, request)));
      for (const answer of answers.filter(({ kind }) => kind === '201')) {
        expect(owner.has(answer.key), `the key ${answer.key} made something a second time`).to.equal(false);
        owner.set(answer.key, answer);
      }
      for (const { key, body, kind, text } of answers) {
        const own = owner.get(key);
        // Whoever came first in a wave was carried out: nobody can be in flight behind nobody.
        expect(own, `the key ${key} was never carried out`).not.to.equal(undefined);
        if (kind.startsWith('201')) expect([body, text]).to.deep.equal([own?.body, own?.text]);
        else expect(kind).to.equal('409 IDEMPOTENCY_CONFLICT');
        const alone = requests.filter((request) => request.key === key).length === 1;
        if (alone && own?.body === body) expect(kind).to.match(/^201/);
        if (alone && own?.body !== body) expect(kind).to.match(/^409/);
      }
    }
    const made = await rows(
      apis[0] as TestApi,
      'select url from webhook_endpoints where merchant_id = ? order by url',
      [merchant.id],
    );
    const expected = [...owner.values()].map(({ body }) => urlOf(body).url).sort();
    expect(made.map(({ url }) => url)).to.deep.equal(expected);
  }

  it('make what the first of each key asked for, once, and tell everybody the same', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 24 }), async (steps) => {
      await play(await (apis[0] as TestApi).newMerchant(), randomUUID(), steps);
    });
    await fc.assert(property, { numRuns: 25 });
  });
});
