import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { eventually } from '../../../dev/support/eventually.ts';
import { migratedDatabase } from '../../../dev/support/parts.ts';
import type { Deps } from '../../../src/services/deps.ts';
import { createMerchant } from '../../../src/services/merchants/merchants.ts';
import { type Answer, call, testDeps } from '../../support/gateway.ts';
import { type GatewayChild, startGatewayChild } from '../../support/gateway-child.ts';
import { kind } from '../../support/once.ts';

const KILLS = 30;
const CUTS = 30;
/** Requests in flight when something dies, of every kind. */
const IN_FLIGHT = 8;
/**
 * Time over which a round's requests are sent; and how long, after
 * the last answer that it lets through, something waits to die.
 */
const SENT_WITHIN_MS = 60;
const LAST_MOMENT_MS = 8;

/** One request whose effect the database would take twice without a word. */
type Deed = { readonly path: string; readonly once: string; readonly body: object; readonly key: string };
type Shop = { readonly merchantId: string; readonly key: string; readonly customerId: string };

/**
 * Real API processes over one database. Requests are sent, the process (or its
 * connections) dies at a random moment, and every request is sent again with its key
 * until it is answered: each has happened once, and the answer tells of what did happen.
 */
describe('requests with an Idempotency-Key whose process dies', function () {
  this.timeout(900_000);
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let deps: Deps;
  let shop: Shop;
  const children = new Set<Promise<GatewayChild>>();

  const begin = (): Promise<GatewayChild> => {
    // Without Temporal: what the requests ask of it stays in the outbox, where it can be counted.
    const child = startGatewayChild({ DATABASE_URL: database.url, TEMPORAL_ADDRESS: '127.0.0.1:9' }, 'api');
    child.catch(() => undefined);
    children.add(child);
    return child;
  };

  before(async () => {
    database = await migratedDatabase();
    deps = await testDeps(database.url, []);
  });
  after(async () => {
    for (const child of children) await child.then(({ child }) => child.kill()).catch(() => undefined);
    await deps?.orm.close(true);
    await database?.drop();
  });

  const sql = (text: string, params: unknown[] = []) =>
    deps.orm.em.fork().execute<Record<string, string>[]>(text, params);

  /** A merchant may have 50 endpoints: each round has its own. */
  async function openShop(api: string): Promise<Shop> {
    const { merchantId, keys } = await createMerchant(deps, { name: 'Shop', subscriptionActive: true });
    const headers = { 'Idempotency-Key': randomUUID() };
    await call(`${api}/webhook-endpoints`, {
      key: keys.test,
      headers,
      body: { url: 'http://127.0.0.1:9/', events: '*' },
    });
    const made = await call(`${api}/customers`, {
      key: keys.test,
      headers,
      body: { external_id: randomUUID() },
    });
    expect(made.status, made.text).to.equal(201);
    return { merchantId, key: keys.test, customerId: made.body['id'] };
  }

  const deedOf = (index: number): Deed => {
    const once = randomUUID();
    const kinds = [
      { path: '/customers', body: { external_id: once } },
      {
        path: '/webhook-endpoints',
        body: { url: 'http://127.0.0.1:9/', events: ['customer.created'], description: once },
      },
      {
        path: '/test/simulate-deposit',
        body: { customer_id: shop.customerId, amount: `1.${1_000_000 + randomInt(1_000_000)}` },
      },
      { path: '/request-payment', body: { email: `${once}@example.com`, amount_usd: 10, description: once } },
    ] as const;
    return { once, key: shop.key, ...(kinds[index % kinds.length] ?? kinds[0]) };
  };
  const send = (api: string, { path, key, once, body }: Deed): Promise<Answer> =>
    call(api + path, { key, headers: { 'Idempotency-Key': once }, body });
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  /** As a merchant's program does it: again until the answer is neither "try again" nor silence. */
  const insist = (api: string, deed: Deed): Promise<Answer> =>
    eventually(`an answer to ${deed.path}`, async () => {
      const answer = await send(api, deed).catch(() => undefined);
      return answer && answer.status < 500 && answer.body['code'] !== 'IDEMPOTENCY_CONFLICT'
        ? answer
        : undefined;
    });

  /**
   * Sends the round's requests over some time, lets `die` happen at a random moment of it, and
   * asks for every answer again. The moment is counted in answers, none to all but one: a time
   * would come before every answer on a slow machine, and after all of them on a fast one.
   */
  async function round(api: string, die: () => Promise<void>, apiAfterwards: () => Promise<string>) {
    const deeds = Array.from({ length: IN_FLIGHT }, (_, index) => deedOf(index));
    let [heard, moment] = [0, () => {}];
    const lastHeard = randomInt(IN_FLIGHT);
    const enough = new Promise<void>((resolve) => {
      moment = resolve;
    });
    const first = deeds.map(async (deed) => {
      await pause(randomInt(SENT_WITHIN_MS));
      const answer = await send(api, deed).catch(() => undefined);
      heard += 1;
      if (heard >= lastHeard) moment();
      return answer;
    });
    if (lastHeard > 0) await enough;
    await pause(randomInt(lastHeard > 0 ? LAST_MOMENT_MS : SENT_WITHIN_MS));
    await die();
    const early = await Promise.all(first);
    const later = await apiAfterwards();
    const answers = await Promise.all(deeds.map((deed) => insist(later, deed)));
    const again = await Promise.all(deeds.map((deed) => insist(later, deed)));
    const fates = deeds.map((deed, index) => fateOf(deed, early[index], answers[index], again[index]));
    return { deeds, answers, fates };
  }

  /**
   * `answered` before the fault, `lost` with the answer alone, or `undone` and carried out by the repetition.
   */
  function fateOf(
    deed: Deed,
    early: Answer | undefined,
    answer: Answer | undefined,
    again: Answer | undefined,
  ) {
    expect([answer?.status, again && kind(again)], `${deed.path} ${answer?.text}`).to.deep.equal([
      201,
      '201 again',
    ]);
    expect(again?.text).to.equal(answer?.text);
    if (early?.status !== 201) return answer && kind(answer) === '201 again' ? 'lost' : 'undone';
    expect(answer?.text, 'the answer that was heard first stays').to.equal(early.text);
    return 'answered';
  }

  /** Each request is one effect with all that belongs to it, and its answer names that one. */
  async function expectOnce(deeds: readonly Deed[], answers: readonly Answer[]): Promise<void> {
    const ids = (path: string) =>
      answers
        .filter((_, index) => deeds[index]?.path === path)
        .map(({ body }) => body['id'])
        .sort();
    const made = async (text: string) => (await sql(text, [shop.merchantId])).map((row) => row['id']).sort();
    expect(
      await made(`select id from customers where merchant_id = ? and external_id is not null`),
    ).to.deep.equal([...ids('/customers'), shop.customerId].sort());
    expect(
      await made(`select id from webhook_endpoints where merchant_id = ? and description is not null`),
    ).to.deep.equal(ids('/webhook-endpoints'));
    expect(await made(`select id from deposits where merchant_id = ?`)).to.deep.equal(
      ids('/test/simulate-deposit'),
    );
    expect(await made(`select id from payment_links where merchant_id = ?`)).to.deep.equal(
      ids('/request-payment'),
    );
    // Each customer (one by each payment link too) has its event, each
    // event its delivery to the first endpoint, each delivery one start.
    const [sums] = await sql(
      `select count(*) filter (where type = 'customer.created')::int as customers,
         (select count(*) from customers where merchant_id = ?)::int as expected,
         (select count(*)::int from (select workflow_id from outbox group by workflow_id
           having count(*) > 1) as double_starts) as twice
       from events where merchant_id = ?`,
      [shop.merchantId, shop.merchantId],
    );
    expect([sums?.['customers'], sums?.['twice']]).to.deep.equal([sums?.['expected'], 0]);
  }

  it(`are one effect each, ${KILLS * IN_FLIGHT} of them in ${KILLS} processes that are killed at random moments`, async () => {
    const fates: string[] = [];
    let target = begin();
    for (let kill = 0; kill < KILLS; kill += 1) {
      // The next process starts while this one works and dies.
      const [dying, next] = [await target, begin()];
      const later = async () => (await next).api;
      fates.push(...(await playedOnce(dying.api, () => dying.child.kill(), later)));
      target = next;
    }
    // Not 'lost': between the commit and the answer lies a millisecond, which a random moment need not hit.
    expect(new Set(fates)).to.include.keys('answered', 'undone');
  });

  it(`are one effect each when the connections to PostgreSQL are cut, ${CUTS} times at random moments`, async () => {
    const { api } = await begin();
    const fates: string[] = [];
    const backends = `from pg_stat_activity where datname = current_database() and application_name = 'gateway api'`;
    const cut = async () => void (await sql(`select pg_terminate_backend(pid) ${backends}`));
    for (let turn = 0; turn < CUTS; turn += 1) fates.push(...(await playedOnce(api, cut, async () => api)));
    expect(new Set(fates)).to.include('undone');
  });

  /** A round in a new shop, of which each request had one effect; what became of them. */
  async function playedOnce(...[api, die, later]: Parameters<typeof round>): Promise<string[]> {
    shop = await openShop(api);
    const { deeds, answers, fates } = await round(api, die, later);
    await expectOnce(deeds, answers);
    return fates;
  }
});
