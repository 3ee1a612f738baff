import { randomBytes, randomUUID } from 'node:crypto';
import { getAddress } from 'ethers';
import type { z } from 'zod';
import type { Random } from '../../dev/random.ts';
import type { Route } from '../../src/api/route.ts';
import { keyOfHex } from '../../src/chains/address-key.ts';
import { chainOf } from '../../src/chains/index.ts';
import { membersOf } from './http/hostile-texts.ts';
import { type Kind, ONCE_BODY, type Tenant } from './tenants.ts';

type Where = 'path' | 'query' | 'body' | 'header';
/** A place in a request of a route where an id or a name of somebody else can be. */
export type Place = { readonly route: Route; readonly where: Where; readonly member: string };
export type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};
/** The same request with a value of another tenant and with one that nobody has. */
export type Swap = {
  readonly place: Place;
  readonly by: 'key' | 'session';
  readonly foreign: Request;
  readonly nobodys: Request;
  /** What the foreign request names; an answer may repeat it. */
  readonly sent: string;
  /**
   * Whether the answer is about the value alone, so that both requests must be answered alike to the byte.
   */
  readonly exact: boolean;
};

/** Members that cannot name anything that belongs to somebody. */
const OF_NOBODY = `limit page status event type events enabled_events network currency created_from created_to
  since token amount amount_usd outcome share name metadata url description enabled rotate_secret
  expires_in success_url cancel_url webhook_url`.split(/\s+/);
/** What a member stands for, by its name. A new member must be entered here. */
const MEMBERS: Readonly<Record<string, Kind | 'own' | 'none'>> = {
  ...Object.fromEntries(OF_NOBODY.map((member) => [member, 'none' as const])),
  starting_after: 'own',
  ending_before: 'own',
  customer_id: 'customer',
  subject_id: 'deposit',
  payment_token: 'token',
  transaction_hash: 'hash',
  email: 'email',
  external_id: 'external_id',
  address: 'address',
  from_address: 'address',
  search: 'text',
};

/** What the rows of a collection are, by the beginning of the path. */
const COLLECTIONS: Readonly<Record<string, Kind>> = {
  customers: 'customer',
  'webhook-endpoints': 'endpoint',
  events: 'event',
  'webhook-deliveries': 'delivery',
  deposits: 'deposit',
  payments: 'link',
  'payment-links': 'link',
  'merchant-balances': 'balance',
};

type Body = Record<string, unknown>;
/** A body that the route accepts, for every route that has one. */
const BODIES: Readonly<Record<string, (own: Tenant) => Body>> = {
  'post /customers': () => ({ external_id: `made-${randomUUID()}` }),
  'post /webhook-endpoints': () => ONCE_BODY,
  'put /webhook-endpoints/:id': () => ({ description: 'changed', enabled: false, rotate_secret: true }),
  'post /webhook-endpoints/:id/resend-failed': () => ({ since: '2026-01-01T00:00:00Z' }),
  'post /request-payment': (own) => ({ customer_id: own.values.customer[0], amount_usd: 12.5 }),
  'post /test/expire-payment': (own) => ({ token: own.values.token[0] }),
  'post /test/simulate-deposit': (own) => ({ customer_id: own.values.customer[0], amount: '3' }),
};

/** A simulation has `token` as another word for the coin; elsewhere it is that of a link. */
const meaningOf = (route: Route, member: string) =>
  member === 'token' && route.path === '/test/expire-payment' ? 'token' : MEMBERS[member];

const nameOf = (route: Route): string => `${route.method} ${route.path}`;

function collectionOf(route: Route): Kind {
  const kind = COLLECTIONS[route.path.split('/')[1] ?? ''];
  if (!kind) throw new Error(`which rows are behind ${route.path}? Enter it in COLLECTIONS`);
  return kind;
}

/** The names of an object's members. Throws where the schema has none: its input would go untested. */
function namedIn(schema: z.ZodType | undefined): string[] {
  const members = membersOf(schema);
  if (schema && members.length === 0) throw new Error('a schema without members: how is it read?');
  return members;
}

/**
 * Every place of every route. Throws a sentence for a route or member for
 * which nobody has said how to call it.
 */
export function placesOf(routes: readonly Route[]): Place[] {
  return routes.flatMap((route) => {
    if (route.body && !BODIES[nameOf(route)])
      throw new Error(`how is ${nameOf(route)} called? Enter a body in BODIES`);
    const places: Place[] = [];
    const add = (where: Where, member: string) => places.push({ route, where, member });
    for (const [, member = ''] of route.path.matchAll(/:([a-z_]+)/g)) add('path', member);
    for (const where of ['query', 'body'] as const)
      for (const member of namedIn(route[where])) {
        const kind = meaningOf(route, member);
        if (!kind) throw new Error(`whose can ${member} of ${nameOf(route)} be? Enter it in MEMBERS`);
        if (kind !== 'none') add(where, member);
      }
    // A key that another tenant used for the very same request.
    if (route.method === 'post' && places.length === 0) add('header', 'Idempotency-Key');
    return places;
  });
}

/**
 * Which values requests may store: each tenant stores another tenant's name only once,
 * because the second time it is already its own.
 */
export type Memory = {
  readonly stored: Set<string>;
  readonly knows: (tenant: Tenant, value: string) => void;
};

/**
 * One request of a tenant with a value of another one; undefined when that place has no value left to try.
 */
export function swapOf(input: {
  random: Random;
  place: Place;
  own: Tenant;
  other: Tenant;
  memory: Memory;
}): Swap | undefined {
  const { random, place, own, other, memory } = input;
  const { route, where, member } = place;
  const kind = kindOf(place);
  const stores = where === 'body' && kind in other.spare;
  const isPublic = route.auth === 'none';
  // The token of a link opens its public part to everybody; every other id must open nothing.
  const wrong = where === 'path' && (isPublic || random.chance(0.2));
  const pool = stores
    ? other.spare[kind as keyof Tenant['spare']]
    : wrong
      ? random.pick([other.values.customer, other.values.link, other.values.endpoint, other.values.deposit])
      : other.values[kind];
  if (pool.length === 0) return undefined;
  const value = random.pick(pool);
  if (stores) {
    const fact = `${own.index} ${member === 'transaction_hash' || member === 'from_address' ? nameOf(route) : 'names'} ${value}`;
    if (memory.stored.has(fact)) return undefined;
    memory.stored.add(fact);
    memory.knows(own, value);
  }
  const by = random.pick(['key', 'session'] as const);
  // The Idempotency-Key with which the other tenant itself made this request.
  const mayRepeat =
    route.method === 'post' && (where === 'header' || (where === 'path' && random.chance(0.5)));
  const fact = `${own.index} ${nameOf(route)} ${where === 'path' ? value : ''} once of ${other.index}`;
  const once = mayRepeat && !memory.stored.has(fact);
  if (where === 'header' && !once) return undefined;
  if (once) memory.stored.add(fact);
  const headers = { ...own.callers[by], ...(once ? { 'Idempotency-Key': other.values.once[0] ?? '' } : {}) };
  const shape = { place, own, headers };
  return {
    place,
    by,
    sent: value,
    exact: !stores && where !== 'header',
    foreign: requestWith(shape, value),
    nobodys: requestWith(shape, where === 'header' ? `once-${randomUUID()}` : nobodysLike(value)),
  };
}

function kindOf({ route, where, member }: Place): Kind {
  if (where === 'header') return 'once';
  if (where === 'path') return member === 'token' ? 'token' : collectionOf(route);
  const kind = meaningOf(route, member);
  if (kind === 'own') return route.path.endsWith('/deliveries') ? 'delivery' : collectionOf(route);
  return kind as Kind;
}

/** The request with one value in its place and the tenant's own everywhere else. */
function requestWith(
  input: { place: Place; own: Tenant; headers: Record<string, string> },
  value: string,
): Request {
  const { own, headers } = input;
  const { route, where, member } = input.place;
  const path = route.path.replace(/:([a-z_]+)/g, (_all, name: string) =>
    encodeURIComponent(
      where === 'path' && name === member ? value : (own.values[collectionOf(route)][0] ?? ''),
    ),
  );
  const query = where === 'query' ? `?${member}=${encodeURIComponent(value)}` : '';
  const body = route.body && BODIES[nameOf(route)]?.(own);
  if (body && where === 'body') {
    // Both name the customer, and the id would win.
    if (member === 'email' && route.path === '/request-payment') delete body['customer_id'];
    if (member === 'transaction_hash' || member === 'from_address')
      body['network'] = value.startsWith('T') ? 'tron' : 'bsc';
    body[member] = value;
  }
  const sent = where === 'header' ? { ...headers, [member]: value } : headers;
  return { method: route.method.toUpperCase(), path: path + query, headers: sent, ...(body ? { body } : {}) };
}

/** Values that look alike have the same shape. */
function shapeOf(value: string): string {
  if (/^[0-9a-f]{8}-/.test(value)) return 'uuid';
  return `${/^(0x|T|pl_|mk|once-)/.exec(value)?.[1] ?? (value.includes('@') ? 'email' : 'name')}${value.length}`;
}

/** A value of the same shape that nobody has. */
function nobodysLike(value: string): string {
  if (shapeOf(value) === 'uuid') return randomUUID();
  if (/^0x.{64}$/.test(value)) return `0x${randomBytes(32).toString('hex')}`;
  if (value.startsWith('0x')) return getAddress(`0x${randomBytes(20).toString('hex')}`);
  if (value.startsWith('T'))
    return chainOf('tron').addresses.format(keyOfHex(randomBytes(20).toString('hex')));
  if (value.startsWith('pl_'))
    return `pl_${randomBytes(value.length)
      .toString('base64url')
      .slice(0, value.length - 3)}`;
  return value.replace(/mk[0-9a-f]{16}/g, () => `mk${randomBytes(8).toString('hex')}`);
}
