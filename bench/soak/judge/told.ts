// What receivers were told, held against what the API shows and the chains say; and what was made for whom.
import { isDeepStrictEqual } from 'node:util';
import { isSubscribed } from '../../../src/domain/events.ts';
import type { Json } from '../api.ts';
import { MERCHANTS } from '../plan/plan.ts';
import { ENDPOINTS, HEALTHY, type ReceiverName } from '../receivers.ts';
import { keyOf, type Records, type Say, type Seen } from './records.ts';
import { addressAs } from './truth.ts';

const MAX_ATTEMPTS = 5;
const NOTHING: ReadonlyMap<string, Seen> = new Map();

/** Which event may follow which, by the names of the states. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  '': ['detected'],
  detected: ['confirming', 'failed'],
  confirming: ['completed', 'failed'],
  completed: ['settled'],
  settled: [],
  failed: ['detected'],
};

/** Every state that a live deposit passed reached the healthy receiver of its merchant, once and in order. */
export function judgeEvents({ deposits, seen }: Records, say: Say): void {
  for (const merchant of MERCHANTS) {
    const told = [...(seen.get(HEALTHY.live[merchant]) ?? NOTHING).values()].filter(({ event }) =>
      event.startsWith('deposit.'),
    );
    const byDeposit = Map.groupBy(told, ({ data }) => data['id']);
    for (const row of deposits[merchant]) {
      judgeLife(row, byDeposit.get(row['id']) ?? [], say);
      byDeposit.delete(row['id']);
    }
    for (const [id, events] of byDeposit)
      say('no event about an unknown deposit', String(id), events.map(({ event }) => event).join(', '));
  }
}

const sequenceOf = ({ data }: Seen): number => Number(data['sequence']);

function judgeLife(row: Json, told: readonly Seen[], say: Say): void {
  const id = String(row['id']);
  const events = told.toSorted((a, b) => sequenceOf(a) - sequenceOf(b));
  const wanted = Array.from({ length: Number(row['sequence']) }, (_, index) => index + 1);
  if (!isDeepStrictEqual(events.map(sequenceOf), wanted))
    say('each state of a deposit is told once', id, `${events.map(sequenceOf)} of 1 to ${row['sequence']}`);
  let [before, beforeTime] = ['', ''];
  for (const { event, data, timestamp } of events) {
    const state = event.slice('deposit.'.length);
    if (state !== data['status'] || !FOLLOWS[before]?.includes(state) || timestamp < beforeTime)
      say(
        'events follow the life of a deposit',
        id,
        `${event} at ${timestamp} after ${before} at ${beforeTime}`,
      );
    [before, beforeTime] = [state, timestamp];
  }
  const last = events.at(-1)?.data ?? {};
  for (const name of ['status', 'amount_raw', 'settlement'])
    if (!isDeepStrictEqual(last[name] ?? null, row[name] ?? null))
      say(
        'the last event tells what the API shows',
        id,
        `${name}: ${JSON.stringify(last[name])} instead of ${JSON.stringify(row[name])}`,
      );
}

/** What holds for everything that any receiver was ever sent. */
export function judgeReceived({ truth, customers, seen }: Records, say: Say): void {
  for (const [name, own] of seen) {
    const { merchant, mode, events } = ENDPOINTS[name];
    const ids = new Set(
      customers.filter((one) => one.merchant === merchant && one.mode === mode).map(({ id }) => id),
    );
    const healthy = seen.get(HEALTHY[mode][merchant]) ?? NOTHING;
    for (const { eventId, event } of healthy.values())
      if (isSubscribed(events, event) && !own.has(eventId))
        say('every subscriber is sent every event', `${name} ${event} ${eventId}`, 'never arrived');
    for (const one of own.values()) {
      const { eventId, event, data, bodies, allVerified, attempts } = one;
      const subject = `${name} ${event} ${eventId}`;
      const same = isDeepStrictEqual(healthy.get(eventId)?.data, data);
      if (!isSubscribed(events, event) || !same)
        say('a subscriber is sent what the others are, and asked for', subject, JSON.stringify(data));
      if (
        !allVerified ||
        bodies !== 1 ||
        attempts.length > MAX_ATTEMPTS ||
        new Set(attempts).size < attempts.length
      )
        say('an event has one signed body and five attempts', subject, `${bodies} bodies, ${attempts}`);
      const owner = String(event === 'customer.created' ? data['id'] : data['customer_id']);
      if (!ids.has(owner)) say('a receiver hears of its own customers only', subject, `customer ${owner}`);
      if (mode !== 'live' || event !== 'deposit.completed') continue;
      const credit = truth.credits.get(keyOf(data));
      if (data['block_hash'] !== credit?.blockHash || data['amount_raw'] !== String(credit?.amountUnits))
        say(
          'deposit.completed only for a transfer in a canonical block',
          subject,
          `${data['amount_raw']} in ${data['block_hash']}, not ${credit?.amountUnits} in ${credit?.blockHash}`,
        );
    }
  }
}

/** Every delivery ended, and its end agrees with what the receiver remembers. */
export function judgeDeliveries({ deliveries, nameOf, seen }: Records, say: Say): void {
  const known = new Set<string>();
  for (const { event_id: eventId, url, status, attempts, last_status: last } of deliveries) {
    const name = nameOf.get(url) ?? (url as ReceiverName);
    const subject = `${name} ${eventId}`;
    const record = seen.get(name)?.get(eventId);
    if (known.has(subject)) say('one delivery for each event and endpoint', subject, 'a second one');
    known.add(subject);
    const isFinal = last !== null && last !== 429 && last < 500;
    const endedWell =
      status === 'succeeded'
        ? record?.taken === true
        : status === 'failed' && (attempts >= MAX_ATTEMPTS || isFinal);
    if (!endedWell || attempts > MAX_ATTEMPTS)
      say(
        'a delivery ends as its receiver remembers',
        subject,
        `${status} after ${attempts} attempts (last ${last}); it was ${record?.taken ? '' : 'not '}taken`,
      );
    if ((record?.attempts.length ?? 0) > attempts)
      say('no request without an attempt', subject, `${record?.attempts.length} requests of ${attempts}`);
  }
  for (const [name, records] of seen)
    for (const eventId of records.keys())
      if (!known.has(`${name} ${eventId}`))
        say('no request without a delivery', `${name} ${eventId}`, 'unknown');
}

/** Customers: each was made once, has addresses of its own, and was announced by exactly one event. */
export function judgeCustomers({ customers, listed, seen }: Records, say: Say): void {
  const addresses = new Map<string, unknown>();
  for (const row of listed)
    for (const { network, address } of row['addresses'] as { network: string; address: string }[]) {
      const key = `${network} ${addressAs(network, address)}`;
      if (addresses.has(key)) say('no address is given twice', key, `${addresses.get(key)} and ${row['id']}`);
      addresses.set(key, row['id']);
    }
  const ids = listed.map((row) => String(row['id']));
  if (ids.length !== customers.length)
    say('every customer exists once', 'GET /customers', `${ids.length} listed, ${customers.length} made`);
  for (const { id, externalId, merchant, mode } of customers) {
    if (!ids.includes(id)) say('every customer exists once', id, `${externalId} is not listed`);
    const told = [...(seen.get(HEALTHY[mode][merchant]) ?? NOTHING).values()].filter(
      ({ event, data }) => event === 'customer.created' && data['id'] === id,
    );
    if (told.length !== 1) say('one customer.created for each customer', id, `${told.length} events`);
  }
}

/** One test deposit for each simulation, at rest in the wanted state, and no other. */
export function judgeSimulations({ simulated, simulations }: Records, say: Say): void {
  const rule = 'one test deposit for each simulation';
  const known = new Set<unknown>(simulated.map(({ depositId }) => depositId));
  for (const row of simulations)
    if (!known.has(row['id'])) say(rule, String(row['id']), `nobody simulated it: ${row['status']}`);
  for (const { action, depositId } of simulated) {
    const rows = simulations.filter((row) => row['transaction_hash'] === action.hash);
    const state = action.outcome === 'reorged' ? 'failed' : action.outcome;
    if (rows.length !== 1 || rows[0]?.['id'] !== depositId || rows[0]['status'] !== state)
      say(rule, depositId, `${rows.length} deposits, ${rows[0]?.['status']} instead of ${state}`);
  }
}
