// Who is paid out where, whether nobody was forgotten, and what receivers are told of it.
import type { Currency, Network } from '../../../src/domain/assets.ts';
import type { Json } from '../api.ts';
import { settleMinUnits } from '../plan/amounts.ts';
import type { MerchantName } from '../plan/plan.ts';
import type { Destination } from '../wallets.ts';
import type { Difference } from './compare.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { Seen } from './records.ts';
import type { Settled } from './settlements.ts';
import { addressAs, placeKey } from './truth.ts';

/**
 * Every payout that was signed goes where its merchant wanted it then; what
 * is signed before a change is made goes out to the place before it.
 */
export function compareDirections(
  payouts: readonly PayoutRow[],
  destinations: readonly Destination[],
): Difference[] {
  return payouts.flatMap((payout) => {
    const { network, signed_ms: signedMs } = payout;
    if (signedMs === null) return [];
    const own = destinations.filter(
      (one) => one.merchantId === payout.merchant_id && one.network === network && one.askedMs <= signedMs,
    );
    const made = own.findLastIndex(({ fromMs }) => fromMs <= signedMs);
    const allowed = own.slice(Math.max(0, made)).map(({ address }) => address);
    return allowed.includes(addressAs(network, payout.destination))
      ? []
      : [
          {
            rule: 'a payout goes where its merchant said',
            subject: `payout ${payout.id}`,
            detail: `${payout.destination} instead of ${allowed.join(' or ') || 'nowhere'}`,
          },
        ];
  });
}

type Waiting = {
  readonly deposits: Readonly<Record<MerchantName, readonly Json[]>>;
  readonly payouts: readonly PayoutRow[];
  readonly destinations: readonly Destination[];
  /** The networks on which the gateway says that it pays out. */
  readonly paysOut: readonly Network[];
  /** The addresses that the run itself spends from: what lies there is paid out or not. */
  readonly spenders: readonly string[];
};

/** Whatever may be paid out is paid out in the end, and no payout is left under way. */
export function compareWaiting(waiting: Waiting): Difference[] {
  const { deposits, payouts, destinations, paysOut, spenders } = waiting;
  const sums = new Map<string, { units: bigint; least: bigint }>();
  for (const [merchant, list] of Object.entries(deposits))
    for (const row of list) {
      const [network, currency] = [row['network'] as Network, row['currency'] as Currency];
      const address = addressAs(network, String(row['address']));
      const goesOut =
        row['status'] === 'completed' &&
        paysOut.includes(network) &&
        destinations.some((one) => one.merchant === merchant && one.network === network) &&
        !spenders.includes(`${network} ${address}`);
      if (!goesOut) continue;
      const place = placeKey(network, address, currency);
      const units = (sums.get(place)?.units ?? 0n) + BigInt(String(row['amount_raw']));
      sums.set(place, { units, least: settleMinUnits(network, currency) });
    }
  const rule = 'what may be paid out is paid out in the end';
  const found: Difference[] = [];
  for (const [subject, { units, least }] of sums)
    if (units >= least) found.push({ rule, subject, detail: `${units} units still lie there` });
  for (const { id, network, address, state } of payouts)
    if (
      (state === 'planned' || state === 'paying') &&
      !spenders.includes(`${network} ${addressAs(network, address)}`)
    )
      found.push({ rule, subject: `payout ${id} of ${address}`, detail: state });
  return found;
}

/** One receiver that listens to settlements, and the settled deposits of its merchant. */
export type SettledListener = {
  readonly name: string;
  readonly settled: readonly Settled[];
  readonly seen: readonly Seen[];
};

/** Each subscribed receiver hears once of each settled deposit, with the settlement that the API shows. */
export function compareAnnounced(listeners: readonly SettledListener[]): Difference[] {
  return listeners.flatMap(({ name, settled, seen }) => {
    const found: Difference[] = [];
    const told = Map.groupBy(
      seen.filter(({ event }) => event === 'deposit.settled'),
      ({ data }) => String(data['id']),
    );
    for (const { id, row } of settled) {
      const subject = `${name} ${id}`;
      const events = told.get(id) ?? [];
      told.delete(id);
      if (events.length !== 1)
        found.push({
          rule: 'one deposit.settled for each settled deposit',
          subject,
          detail: `${events.length} events`,
        });
      for (const { data } of events)
        if (textOf(data['settlement']) !== textOf(row['settlement']))
          found.push({
            rule: 'deposit.settled tells the settlement',
            subject,
            detail: `${textOf(data['settlement'])} instead of ${textOf(row['settlement'])}`,
          });
    }
    for (const [id, events] of told)
      found.push({
        rule: 'nothing is told as settled that is not',
        subject: `${name} ${id}`,
        detail: `${events.length} events`,
      });
    return found;
  });
}

/** Members in one order, whatever order they came in. */
function textOf(settlement: unknown): string {
  const members = Object.entries((settlement ?? {}) as Json).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(members);
}
