import type { Network } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import type { Customer } from '../stage.ts';
import type { Seen } from './records.ts';
import { addressAs, creditKey, type Truth } from './truth.ts';

/** Something that is not as it must be. `rule` says what must hold, `detail` what was found. */
export type Difference = { readonly rule: string; readonly subject: string; readonly detail: string };

const MAX_ATTEMPTS = 5;
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What a deposit is known by, from a row of the API or the data of an event. */
const keyOf = (data: Json): string =>
  creditKey(
    text(data['network']),
    text(data['transaction_hash']),
    text(data['address']),
    text(data['currency']),
  );

/**
 * Deposits as the API shows them against the chains: each credit-worthy transfer once,
 * nothing else, and its end is right. `owners` are by network and address.
 */
export function compareDeposits(
  truth: Truth,
  deposits: readonly Json[],
  owners: ReadonlyMap<string, Pick<Customer, 'id'>>,
): Difference[] {
  const found: Difference[] = [];
  const byKey = new Map<string, Json[]>();
  for (const deposit of deposits) byKey.set(keyOf(deposit), [...(byKey.get(keyOf(deposit)) ?? []), deposit]);
  for (const [key, credit] of truth.credits) {
    const rows = byKey.get(key) ?? [];
    if (rows.length !== 1) {
      found.push({
        rule: 'one deposit for each transfer',
        subject: key,
        detail: `${rows.length} deposits, ${credit.amountUnits} units in block ${credit.blockNumber}`,
      });
      continue;
    }
    const [row = {}] = rows;
    const expected: Json = {
      // Whether it had to be paid out is another question.
      status: credit.belowMinimum ? 'failed' : row['status'] === 'settled' ? 'settled' : 'completed',
      failure_code: credit.belowMinimum ? 'BELOW_MINIMUM' : null,
      customer_id: owners.get(`${credit.network} ${credit.address}`)?.id ?? null,
      amount_raw: String(credit.amountUnits),
      block_number: credit.blockNumber,
      block_hash: credit.blockHash,
    };
    for (const [name, value] of Object.entries(expected))
      if (row[name] !== value)
        found.push({
          rule: `a deposit's ${name}`,
          subject: key,
          detail: `${text(row[name])} instead of ${text(value)}`,
        });
  }
  for (const [key, rows] of byKey) {
    if (truth.credits.has(key)) continue;
    for (const row of rows)
      if (
        row['status'] !== 'failed' ||
        row['failure_code'] !== 'REORGED' ||
        truth.transactions.has(text(row['transaction_hash']))
      )
        found.push({
          rule: 'no deposit without a transfer',
          subject: key,
          detail: `${text(row['status'])} ${text(row['failure_code'])} ${text(row['amount'])}`,
        });
  }
  return found;
}

/** Which event may follow which, by the names of the states. */
const FOLLOWS: Readonly<Record<string, readonly string[]>> = {
  '': ['detected'],
  detected: ['confirming', 'failed'],
  confirming: ['completed', 'failed'],
  completed: ['settled'],
  settled: [],
  failed: ['detected'],
};

/**
 * Every state that a live deposit passed reached the healthy receiver:
 * sequences 1 to the last, one event each, in a lawful order.
 */
export function compareEvents(deposits: readonly Json[], healthy: ReadonlyMap<string, Seen>): Difference[] {
  const found: Difference[] = [];
  const byDeposit = new Map<string, Seen[]>();
  for (const seen of healthy.values())
    if (seen.event.startsWith('deposit.'))
      byDeposit.set(text(seen.data['id']), [...(byDeposit.get(text(seen.data['id'])) ?? []), seen]);
  for (const deposit of deposits) {
    const id = text(deposit['id']);
    const events = (byDeposit.get(id) ?? []).sort(
      (a, b) => Number(a.data['sequence']) - Number(b.data['sequence']),
    );
    byDeposit.delete(id);
    const sequences = events.map((event) => event.data['sequence']);
    const wanted = Array.from({ length: Number(deposit['sequence']) }, (_, index) => index + 1);
    if (JSON.stringify(sequences) !== JSON.stringify(wanted))
      found.push({
        rule: "a deposit's events all arrive, one for each sequence",
        subject: id,
        detail: `arrived ${text(sequences)}, must be ${text(wanted)}`,
      });
    let before = '';
    let beforeTime = '';
    for (const { event, data, timestamp } of events) {
      if (timestamp < beforeTime)
        found.push({
          rule: 'time rises with the sequence',
          subject: id,
          detail: `${event} at ${timestamp} after ${beforeTime}`,
        });
      beforeTime = timestamp;
      const state = event.slice('deposit.'.length);
      if (state !== data['status'] || !FOLLOWS[before]?.includes(state))
        found.push({
          rule: 'events follow the life of a deposit',
          subject: id,
          detail: `${event} (status ${text(data['status'])}) after ${before || 'nothing'}`,
        });
      before = state;
    }
    if (before !== deposit['status'])
      found.push({
        rule: 'the last event is the last state',
        subject: id,
        detail: `${before}, the deposit is ${text(deposit['status'])}`,
      });
    const amount = events.at(-1)?.data['amount_raw'];
    if (amount !== deposit['amount_raw'])
      found.push({
        rule: 'the event carries the amount',
        subject: id,
        detail: `${text(amount)}, the deposit has ${text(deposit['amount_raw'])}`,
      });
  }
  for (const [id, events] of byDeposit)
    found.push({
      rule: 'no event about an unknown deposit',
      subject: id,
      detail: events.map((event) => event.event).join(', '),
    });
  return found;
}

/**
 * What holds for everything that any receiver was ever
 * sent. `customerIds` are those of its merchant and mode.
 */
export function compareReceived(
  seen: readonly Seen[],
  truth: Truth,
  customerIds: ReadonlySet<string>,
  live: boolean,
): Difference[] {
  const found: Difference[] = [];
  for (const { receiver, eventId, event, data, bodies, allVerified, attempts } of seen) {
    const subject = `${receiver} ${event} ${eventId}`;
    if (!allVerified)
      found.push({ rule: 'every signature is valid', subject, detail: `${attempts.length} requests` });
    if (bodies !== 1) found.push({ rule: 'one body for each event', subject, detail: `${bodies} bodies` });
    if (attempts.length > MAX_ATTEMPTS || new Set(attempts).size !== attempts.length)
      found.push({
        rule: 'at most five attempts, each number once',
        subject,
        detail: `attempts ${text(attempts)}`,
      });
    if (live && event === 'deposit.completed') {
      const credit = truth.credits.get(keyOf(data));
      const rule = 'deposit.completed only for a transfer in a canonical block';
      if (!credit) found.push({ rule, subject, detail: text(data['transaction_hash']) });
      else if (data['block_hash'] !== credit.blockHash)
        found.push({
          rule,
          subject,
          detail: `block ${text(data['block_hash'])} instead of ${credit.blockHash}`,
        });
      else if (data['amount_raw'] !== String(credit.amountUnits))
        found.push({
          rule,
          subject,
          detail: `${text(data['amount_raw'])} instead of ${credit.amountUnits} units`,
        });
    }
    const owner = text(event === 'customer.created' ? data['id'] : data['customer_id']);
    if (!customerIds.has(owner))
      found.push({
        rule: 'a receiver hears of its own customers only',
        subject,
        detail: `customer ${owner}`,
      });
  }
  return found;
}

/** Customers: each was made once, has addresses of its own, and was announced by exactly one event. */
export function compareCustomers(
  made: readonly Customer[],
  listed: readonly Json[],
  seen: readonly Seen[],
): Difference[] {
  const found: Difference[] = [];
  const addresses = new Map<string, string>();
  for (const row of listed)
    for (const { network, address } of row['addresses'] as { network: Network; address: string }[]) {
      const key = `${network} ${addressAs(network, address)}`;
      const other = addresses.get(key);
      if (other !== undefined)
        found.push({
          rule: 'no wallet index is used twice',
          subject: key,
          detail: `${other} and ${text(row['id'])}`,
        });
      addresses.set(key, text(row['id']));
    }
  const ids = new Set(listed.map((row) => text(row['id'])));
  if (ids.size !== made.length)
    found.push({
      rule: 'every customer exists once',
      subject: 'GET /customers',
      detail: `${ids.size} listed, ${made.length} made`,
    });
  for (const customer of made) {
    if (!ids.has(customer.id))
      found.push({
        rule: 'every customer exists once',
        subject: customer.id,
        detail: `${customer.externalId} is not listed`,
      });
    const events = seen.filter(
      (entry) => entry.event === 'customer.created' && entry.data['id'] === customer.id,
    );
    if (events.length !== 1)
      found.push({
        rule: 'one customer.created for each customer',
        subject: customer.id,
        detail: `${events.length} events`,
      });
  }
  return found;
}
