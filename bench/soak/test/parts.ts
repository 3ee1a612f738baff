// What hand-made records of a small run are put together from.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { isSubscribed } from '../../../src/domain/events.ts';
import type { Json } from '../api.ts';
import type { Seen } from '../oracle/records.ts';
import type { Records } from '../oracle/verdict.ts';
import type { MerchantName, ReceiverName } from '../plan/plan.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Customer } from '../stage.ts';

type Mutable<T> =
  T extends ReadonlyMap<infer K, infer V>
    ? Map<K, Mutable<V>>
    : T extends string | number | boolean | bigint | undefined | null
      ? T
      : T extends ReadonlySet<infer V>
        ? Set<V>
        : T extends Record<string, unknown>
          ? string extends keyof T
            ? Record<string, unknown>
            : { -readonly [K in keyof T]: Mutable<T[K]> }
          : { -readonly [K in keyof T]: Mutable<T[K]> };
export type World = Mutable<Records>;

/** 0x and the digits, repeated to so many bytes. */
export const hex = (digits: string, bytes = 32) => `0x${digits.repeat(bytes * 2).slice(0, bytes * 2)}`;
export const BLOCK = hex('bb');
export const USDT = 10n ** 18n;

/** A customer, by the number of the plan. */
export const customer = (
  number: number,
  merchant: MerchantName,
  mode: 'live' | 'test',
  bsc: string,
  tron = `T${bsc}`,
): Customer => ({
  number,
  merchant,
  mode,
  externalId: `user-${number}`,
  id: `customer-${number}`,
  addresses: { bsc, tron },
});
/** Money that came in block 7. */
export const credit = (
  network: Network,
  hash: string,
  address: string,
  currency: Currency,
  amountUnits: bigint,
  belowMinimum = false,
) => ({
  network,
  hash,
  address,
  currency,
  amountUnits,
  belowMinimum,
  blockNumber: 7,
  blockHash: BLOCK,
});

export type Credit = ReturnType<typeof credit>;

/** A deposit and the events of its life, in order. */
export function lived(
  id: string,
  customerId: string,
  of: Credit,
  states: readonly string[],
  more: Json = {},
) {
  const data = {
    id,
    customer_id: customerId,
    network: of.network,
    transaction_hash: of.hash,
    address: of.address,
    currency: of.currency,
    amount_raw: String(of.amountUnits),
    block_number: 7,
    block_hash: BLOCK,
    failure_code: null,
    ...more,
  };
  const events = states.map((status, index) => ({
    event: `deposit.${status}`,
    data: { ...data, status, sequence: index + 1 },
  }));
  return { row: { ...data, status: states.at(-1), sequence: states.length } as Json, events };
}

/** What each receiver took, and the rows of it, when everything went well at once. */
export function deliver(
  told: Readonly<Record<string, readonly { event: string; data: Json }[]>>,
): Pick<World, 'seen' | 'deliveries'> {
  const seen: World['seen'] = new Map();
  const deliveries: World['deliveries'] = [];
  for (const [receiver, { merchant, mode, events: wanted }] of Object.entries(ENDPOINTS) as [
    ReceiverName,
    (typeof ENDPOINTS)['flaky'],
  ][]) {
    const own = (told[`${merchant} ${mode}`] ?? []).filter(({ event }) => isSubscribed(wanted, event));
    const entries = own.map(({ event, data }, index): [string, Mutable<Seen>] => {
      const eventId = `${merchant} ${mode} ${(told[`${merchant} ${mode}`] ?? []).findIndex((one) => one.data === data)}`;
      const timestamp = `2026-01-01T00:00:${String(index).padStart(2, '0')}Z`;
      deliveries.push({
        id: `${receiver} ${eventId}`,
        event_id: eventId,
        url: `http://${receiver}`,
        status: 'succeeded',
        attempts: 1,
        open: 0,
        last_status: 200,
        taken_by: 1,
      });
      return [
        eventId,
        {
          receiver,
          eventId,
          event,
          data: { ...data },
          timestamp,
          bodies: 1,
          allVerified: true,
          attempts: [1],
          taken: true,
        },
      ];
    });
    seen.set(receiver, new Map(entries));
  }
  return { seen, deliveries };
}

/** The sum of an account. */
export const account = (mode: string, network: Network, currency: Currency, name: string, units: bigint) => ({
  mode,
  network,
  currency,
  account: name,
  sum: String(units),
});
/** The sum of a deposit's account. */
export const entry = (of: Credit, name: string, units: bigint) => ({
  network: of.network,
  transaction_hash: of.hash,
  address: of.address,
  currency: of.currency,
  account: name,
  sum: String(units),
});
