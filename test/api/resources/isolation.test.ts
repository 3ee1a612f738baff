import { expect } from 'chai';
import { createRandom } from '../../../dev/random.ts';
import { ROUTES } from '../../../src/api/routes/index.ts';
import { apiOf, call } from '../../support/gateway.ts';
import {
  type Memory,
  type Place,
  placesOf,
  type Request,
  type Swap,
  swapOf,
} from '../../support/id-swaps.ts';
import { rows as rowsIn } from '../../support/once.ts';
import { makeTenants, needlesIn, rowsOf, type Tenant } from '../../support/tenants.ts';

const MERCHANTS = 2;
const AT_ONCE = 8;
const UNAVAILABLE = 503;
const SEED = 'isolation';
/** They differ by nature: the id and time of a request, and what is left of a limit. */
const OF_THE_REQUEST = new Set(['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset']);

type Heard = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
};

describe('the data of one merchant and mode', () => {
  const api = apiOf();
  let tenants: Tenant[];
  /** Whose a needle is; whoever said it himself knows it too. */
  const owners = new Map<string, Set<number>>();
  const places = placesOf(ROUTES);

  before(async function () {
    this.timeout(120_000);
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

  const own = (needle: string, index: number): void => {
    owners.set(needle, (owners.get(needle) ?? new Set()).add(index));
  };

  const hear = async ({ path, ...request }: Request): Promise<Heard> => {
    const { status, headers, text } = await call(api.url + path, request);
    return { status, headers: Object.fromEntries(headers), text };
  };

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
  const messagesAfter = async (first: number): Promise<string[]> =>
    (await rowsIn(api, 'select o::text as text from outbox o order by id'))
      .slice(first)
      .map(({ text }) => String(text));

  /**
   * Nothing is delivered here, and a merchant whose tests all wait
   * could not begin another: what the refusal hid would not be seen.
   */
  const endTests = async ({ merchantId, mode }: Tenant): Promise<void> => {
    if (mode === 'live') return;
    const ended = `update webhook_deliveries set status = 'failed', finished_at = now(), next_attempt_at = null
      where test_merchant_id = ? and status = 'pending'`;
    const cancelled = `update payment_links set status = 'cancelled', sequence = sequence + 1
      where merchant_id = ? and mode = 'test' and status = 'pending'`;
    for (const statement of [ended, cancelled]) await rowsIn(api, statement, [merchantId]);
  };

  const comparable = ({ status, headers, text }: Heard) => ({
    status,
    // It depends on the moment, and on no tenant.
    text: text.replace(/"complete_before":"[^"]*"/, ''),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_REQUEST.has(name))),
  });

  /** What is wrong with the answers for a foreign value and for one that nobody has. */
  const faultOf = (
    swap: Swap,
    reader: Tenant,
    { foreign, nobodys }: Readonly<Record<'foreign' | 'nobodys', Heard>>,
  ): string | undefined => {
    const told = `${foreign.status} ${foreign.text.slice(0, 300)}`;
    const strangers = strangersIn(foreign, reader, swap.sent);
    if (strangers.length > 0) return `the answer names ${strangers.join(', ')}: ${told}`;
    if (foreign.status === UNAVAILABLE || nobodys.status === UNAVAILABLE) return undefined;
    const isHidden = foreign.status === 404 || foreign.status === 403;
    if (foreign.status >= 500 || (swap.place.where === 'path' && !isHidden)) return told;
    const [a, b] = swap.exact
      ? [comparable(foreign), comparable(nobodys)]
      : [foreign.status < 300, nobodys.status < 300];
    return JSON.stringify(a) === JSON.stringify(b)
      ? undefined
      : `${JSON.stringify(a)} is not the answer for what nobody has: ${JSON.stringify(b)}`;
  };

  const nameOf = ({ place, by }: Swap, reader: Tenant) =>
    `${place.route.method} ${place.route.path} with a foreign ${place.member} (${place.where}) by the ${by} of ${reader.name}`;

  it('cannot be seen, found or changed by another, whatever id or name a request carries', async function () {
    this.timeout(120_000);
    const random = createRandom(SEED);
    const memory: Memory = {
      stored: new Set(),
      knows: (tenant, value) => {
        for (const needle of needlesIn(value)) own(needle, tenant.index);
      },
    };
    const answered = new Set<Place>();
    const faults: string[] = [];
    const changed: string[] = [];
    let before = await rowsOf(api, tenants);
    for (const reader of tenants) {
      const lastMessage = (await messagesAfter(0)).length;
      const others = tenants.filter(({ index }) => index !== reader.index);
      // Of its own merchant in the other mode, and of another merchant in the same one.
      for (const other of others.filter(
        ({ merchantId, mode }) => (merchantId === reader.merchantId) !== (mode === reader.mode),
      )) {
        const swaps = random
          .shuffle(places)
          .flatMap((place) => swapOf({ random, place, own: reader, other, memory }) ?? []);
        for (let from = 0; from < swaps.length; from += AT_ONCE)
          await Promise.all(
            swaps.slice(from, from + AT_ONCE).map(async (swap) => {
              const [foreign, nobodys] = [await hear(swap.foreign), await hear(swap.nobodys)];
              const fault = faultOf(swap, reader, { foreign, nobodys });
              if (fault !== undefined) faults.push(`${nameOf(swap, reader)} (${swap.sent}): ${fault}`);
              // A machine under load may give up on a request: that says nothing about whose data it saw.
              if (![foreign, nobodys].some(({ status }) => status === UNAVAILABLE)) answered.add(swap.place);
            }),
          );
        await endTests(reader);
      }
      const after = await rowsOf(api, tenants);
      for (const other of others)
        for (const [table, rows] of Object.entries(after[other.index] ?? {})) {
          const isShared = table.endsWith(' of the merchant') && other.merchantId === reader.merchantId;
          if (!isShared && rows !== before[other.index]?.[table])
            changed.push(`requests of ${reader.name} changed ${table} of ${other.name}`);
        }
      before = after;
      for (const message of await messagesAfter(lastMessage))
        for (const stranger of strangersIn({ status: 0, headers: {}, text: message }, reader, ''))
          changed.push(`${reader.name} woke ${stranger}`);
    }
    expect(changed).to.deep.equal([]);
    expect(faults).to.deep.equal([]);
    const silent = places.filter((place) => !answered.has(place));
    expect(silent.map(({ route, member }) => `${route.path} ${member}`)).to.deep.equal([]);
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
});
