import { Agent, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { createRandom } from '../../../dev/random.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { startTestApi, type TestApi } from '../../support/gateway.ts';
import {
  type Memory,
  type Place,
  placesOf,
  type Request,
  type Swap,
  swapOf,
} from '../../support/id-swaps.ts';
import { makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

const MERCHANTS = 4;
const REQUESTS = 10_000;
const AT_ONCE = 8;
/** Requests; fewer than may be open in test mode. A multiple of those that are sent at once. */
const END_TESTS_EVERY = 400;
/** A machine under load may give up on a request now and then; that says nothing about whose data it saw. */
const MAX_UNANSWERED = REQUESTS / 100;
const UNAVAILABLE = 503;
const PAIRS = 150;
const SEED = process.env['ISOLATION_SEED'] ?? 'isolation';
/** They differ by nature: the id and time of a request, and what is left of a limit. */
const OF_THE_REQUEST = new Set(['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset']);

type Heard = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
};

describe('the data of one merchant and mode', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let api: TestApi;
  let tenants: Tenant[];
  /** Whose a needle is; whoever said it himself knows it too. */
  const owners = new Map<string, Set<number>>();
  const places = placesOf(ROUTES);

  before(async function () {
    this.timeout(120_000);
    api = await startTestApi();
    tenants = await makeTenants(api, MERCHANTS);
    const rows = await rowsOf(api, tenants);
    for (const tenant of tenants) {
      const text = [
        ...Object.values(rows[tenant.index] ?? {}),
        JSON.stringify([tenant.values, tenant.spare]),
      ].join('\n');
      for (const needle of needlesIn(text)) own(needle, tenant.index);
    }
  });
  after(async () => {
    agent.destroy();
    await api.stop();
  });

  const own = (needle: string, index: number): void => {
    owners.set(needle, (owners.get(needle) ?? new Set()).add(index));
  };

  const hear = ({ method, path, headers, body }: Request): Promise<Heard> =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const typed = bytes
        ? { ...headers, 'Content-Type': 'application/json', 'Content-Length': bytes.length }
        : headers;
      const sending = httpRequest(`${api.url}${path}`, { method, headers: typed, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        );
        response.once('error', reject);
      });
      sending.once('error', reject);
      sending.end(bytes);
    });

  /** What an answer says that its reader neither has nor sent. */
  const strangersIn = (heard: Heard, reader: Tenant, sent: string): string[] => {
    const said = needlesIn(sent);
    return [...needlesIn(`${JSON.stringify(heard.headers)}\n${heard.text}`)].filter((needle) => {
      const of = owners.get(needle);
      return of !== undefined && !of.has(reader.index) && !said.has(needle);
    });
  };

  /**
   * What was put into the outbox, without the first of it:
   * starts and signals of actors. Nothing takes it out here.
   */
  const messagesAfter = async (first: number): Promise<string[]> => {
    const rows = await api.deps.orm.em
      .fork()
      .execute<{ text: string }[]>('select o::text as text from outbox o order by id');
    return rows.slice(first).map(({ text }) => text);
  };

  /**
   * Nothing is delivered here, and a merchant whose tests all wait
   * could not begin another: what the refusal hid would not be seen.
   */
  const endTests = async ({ merchantId, mode }: Tenant): Promise<void> => {
    if (mode === 'live') return;
    const em = api.deps.orm.em.fork();
    await em.execute(
      `update webhook_deliveries set status = 'failed', finished_at = now(), next_attempt_at = null
        where test_merchant_id = ? and status = 'pending'`,
      [merchantId],
    );
    await em.execute(
      "update payment_links set status = 'cancelled', sequence = sequence + 1 where merchant_id = ? and mode = 'test' and status = 'pending'",
      [merchantId],
    );
  };

  const comparable = ({ status, headers, text }: Heard) => ({
    status,
    // It depends on the moment, and on no tenant.
    text: text.replace(/"complete_before":"[^"]*"/, ''),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_REQUEST.has(name))),
  });

  const nameOf = ({ place, by }: Swap, reader: Tenant) =>
    `${place.route.method} ${place.route.path} with a foreign ${place.member} (${place.where}) by the ${by} of ${reader.name}`;

  it('cannot be seen, found or changed by another, whatever id or name a request carries', async function () {
    this.timeout(300_000);
    const random = createRandom(SEED);
    const memory: Memory = {
      stored: new Set(),
      knows: (tenant, value) => {
        for (const needle of needlesIn(value)) own(needle, tenant.index);
      },
    };
    const tried = new Map<Place, number>();
    const faults: string[] = [];
    const changed: string[] = [];
    let sent = 0;
    let unanswered = 0;
    for (const reader of tenants) {
      const before = await rowsOf(api, tenants);
      const lastMessage = (await messagesAfter(0)).length;
      const others = tenants.filter(({ index }) => index !== reader.index);
      const unknown = new Map<string, Promise<Heard>>();
      const one = async (swap: Swap): Promise<void> => {
        const foreign = await hear(swap.foreign);
        const fault = (what: string) => faults.push(`${nameOf(swap, reader)} (${swap.sent}): ${what}`);
        const strangers = strangersIn(foreign, reader, swap.sent);
        if (strangers.length > 0)
          fault(`the answer names ${strangers.join(', ')}: ${foreign.status} ${foreign.text.slice(0, 300)}`);
        const known = swap.exact ? unknown.get(swap.sameAs) : undefined;
        const asking = known ?? hear(swap.nobodys);
        if (swap.exact) unknown.set(swap.sameAs, asking);
        const nobodys = await asking;
        if (foreign.status === UNAVAILABLE || nobodys.status === UNAVAILABLE) {
          unknown.delete(swap.sameAs);
          unanswered += 1;
          return;
        }
        const [a, b] = swap.exact
          ? [comparable(foreign), comparable(nobodys)]
          : [foreign.status < 300, nobodys.status < 300];
        if (JSON.stringify(a) !== JSON.stringify(b))
          fault(`${JSON.stringify(a)} is not the answer for what nobody has: ${JSON.stringify(b)}`);
        if (swap.place.where === 'path' && foreign.status !== 404 && foreign.status !== 403)
          fault(`${foreign.status}, not 404`);
        if (foreign.status >= 500) fault(`${foreign.status}`);
      };
      const share = Math.ceil(REQUESTS / tenants.length);
      for (let done = 0; done < share; ) {
        const batch: Swap[] = [];
        for (let tries = 0; batch.length < AT_ONCE && tries < AT_ONCE * 20; tries += 1) {
          const place = random.pick(places);
          const swap = swapOf({ random, place, own: reader, other: random.pick(others), memory });
          if (!swap) continue;
          tried.set(place, (tried.get(place) ?? 0) + 1);
          batch.push(swap);
        }
        if (batch.length === 0) throw new Error('no place has a value left to try');
        await Promise.all(batch.map(one));
        if (done % END_TESTS_EVERY === 0) await endTests(reader);
        done += batch.length;
        sent += batch.length;
      }
      const after = await rowsOf(api, tenants);
      for (const other of others)
        for (const [table, rows] of Object.entries(after[other.index] ?? {})) {
          const isShared = table.endsWith(' of the merchant') && other.merchantId === reader.merchantId;
          if (!isShared && rows !== before[other.index]?.[table])
            changed.push(`requests of ${reader.name} changed ${table} of ${other.name}`);
        }
      for (const message of await messagesAfter(lastMessage))
        for (const stranger of strangersIn({ status: 0, headers: {}, text: message }, reader, ''))
          changed.push(`${reader.name} woke ${stranger}`);
    }
    expect(changed.slice(0, 10), `${changed.length} changes`).to.deep.equal([]);
    expect(faults.slice(0, 10), `${faults.length} faults`).to.deep.equal([]);
    expect(sent).to.be.at.least(REQUESTS);
    expect(unanswered).to.be.at.most(MAX_UNANSWERED);
    for (const place of places)
      expect(tried.get(place) ?? 0, `${place.route.path} ${place.member}`).to.be.greaterThan(5);
  });

  it('is seen by its own merchant: the search for strangers finds what is there', async () => {
    for (const reader of tenants) {
      const path = `/customers/${reader.values.customer[0]}`;
      const heard = await hear({ method: 'GET', path, headers: reader.callers.session });
      const neighbour = tenants[(reader.index + 1) % tenants.length];
      if (!neighbour) throw new Error('one tenant proves nothing');
      expect(heard.status).to.equal(200);
      expect(strangersIn(heard, reader, '')).to.deep.equal([]);
      expect(strangersIn(heard, neighbour, '')).to.include.members([
        reader.values.customer[0],
        reader.values.address[0],
        reader.values.text[0],
      ]);
    }
  });

  it('is refused as quickly as an id that nobody has', async function () {
    this.timeout(60_000);
    const random = createRandom(`${SEED} durations`);
    const reads = places.filter(
      ({ route, where }) => where === 'path' && route.method === 'get' && route.auth === 'merchant',
    );
    const tookMs: Record<'foreign' | 'nobodys', number[]> = { foreign: [], nobodys: [] };
    const memory: Memory = { stored: new Set(), knows: () => undefined };
    for (let pair = 0; pair < PAIRS; pair += 1) {
      const [reader, other] = random.shuffle(tenants);
      const swap =
        reader && other && swapOf({ random, place: random.pick(reads), own: reader, other, memory });
      if (!swap) continue;
      for (const kind of random.shuffle(['foreign', 'nobodys'] as const)) {
        const beganMs = performance.now();
        await hear(swap[kind]);
        tookMs[kind].push(performance.now() - beganMs);
      }
    }
    const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    expect(median(tookMs.foreign) / median(tookMs.nobodys)).to.be.within(0.6, 1.6);
  });
});
