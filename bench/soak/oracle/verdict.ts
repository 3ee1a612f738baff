// The oracle's judgement: pure, from records that were gathered
// before. What is true is what the chain and the receivers say.
import type { Json } from '../api.ts';
import { MERCHANTS, type MerchantName, type ReceiverName, type SimulateAction } from '../plan/plan.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Customer } from '../stage.ts';
import {
  compareCustomers,
  compareDeposits,
  compareEvents,
  compareReceived,
  type Difference,
} from './compare.ts';
import { compareHoldings } from './holdings.ts';
import { compareSubscriptions } from './listeners.ts';
import { comparePayouts, type PayoutRecords } from './payouts.ts';
import type { Reconciled } from './reconciled.ts';
import { compareReconciled } from './reconciled.ts';
import type { Seen } from './records.ts';
import type { AccountRow, DeliveryRow, SetAsideRow, WalletRow } from './rows.ts';
import { settledOf } from './settlements.ts';
import { compareSimulations } from './simulations.ts';
import {
  compareDeliveries,
  compareDepositLedger,
  compareLedger,
  compareSetAside,
  compareWalletIndexes,
} from './stores.ts';

export type Records = PayoutRecords & {
  /** What each receiver remembers, by event id. */
  readonly seen: ReadonlyMap<ReceiverName, ReadonlyMap<string, Seen>>;
  readonly customers: readonly Customer[];
  readonly simulated: readonly { readonly action: SimulateAction; readonly depositId: string }[];
  /** Refusals of what is sound, and how often the API answered 500. */
  readonly problems: readonly string[];
  readonly internalErrors: number;
  /** What the API lists, beside live deposits: test deposits, customers of every merchant and mode. */
  readonly simulations: readonly Json[];
  readonly listed: readonly Json[];
  readonly accounts: readonly AccountRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly sharedWallets: readonly WalletRow[];
  readonly setAside: readonly SetAsideRow[];
  /** Receivers by the URL at which they are registered. */
  readonly nameOf: ReadonlyMap<string, string>;
  readonly reconciled: Pick<Reconciled, 'left' | 'refused'>;
};

/** The receiver of each merchant and mode that takes everything at once. */
const HEALTHY = {
  live: { A: 'healthy-a', B: 'healthy-b', C: 'healthy-c' },
  test: { A: 'healthy-test', B: 'healthy-test', C: 'healthy-test' },
} as const;

/** Everything that is not as it must be; empty where all is well. */
export function compareAll(records: Records): Difference[] {
  const { truth, seen, customers, simulated, deposits, simulations } = records;
  const healthy = (mode: 'live' | 'test', merchant: MerchantName) =>
    seen.get(HEALTHY[mode][merchant]) ?? new Map<string, Seen>();
  const found: Difference[] = records.problems.map((detail) => ({
    rule: 'the API serves whatever is sound',
    subject: 'API',
    detail,
  }));
  if (records.internalErrors > 0)
    found.push({
      rule: 'the API never answers 500',
      subject: 'API',
      detail: `${records.internalErrors} times`,
    });
  const all = MERCHANTS.flatMap((merchant) => deposits[merchant]);
  for (const merchant of MERCHANTS)
    found.push(...compareEvents(deposits[merchant], healthy('live', merchant)));
  const owners = new Map(
    customers.flatMap((customer) =>
      Object.entries(customer.addresses).map((entry) => [entry.join(' '), customer]),
    ),
  );
  found.push(...compareDeposits(truth, all, owners));
  found.push(...compareSimulations(simulated, simulations, [...healthy('test', 'A').values()]));
  const lives = MERCHANTS.map((merchant) => healthy('live', merchant));
  const announced = [...lives, healthy('test', 'A')].flatMap((list) => [...list.values()]);
  found.push(...compareCustomers(customers, records.listed, announced));
  for (const [name, list] of seen) {
    const { merchant, mode } = ENDPOINTS[name];
    const own = customers.filter((customer) => customer.merchant === merchant && customer.mode === mode);
    found.push(
      ...compareReceived(
        [...list.values()],
        truth,
        new Set(own.map((customer) => customer.id)),
        mode === 'live',
      ),
    );
  }
  const listeners = Object.entries(ENDPOINTS).map(([name, { merchant, mode, events }]) => ({
    name,
    events,
    everything: HEALTHY[mode][merchant],
  }));
  found.push(...compareSubscriptions(listeners, seen));
  const settled = new Map(settledOf(all).map((one) => [one.key, one]));
  found.push(
    ...compareLedger(records.accounts, truth, simulated, settled),
    ...compareDepositLedger(records.depositAccounts, truth, settled),
    ...comparePayouts(records, [...settled.values()]),
  );
  found.push(
    ...compareDeliveries(records.deliveries, records.nameOf, seen),
    ...compareWalletIndexes(records.sharedWallets),
  );
  found.push(...compareSetAside(records.setAside, truth));
  found.push(
    ...compareHoldings([...records.holdings, ...records.gasHoldings, ...records.destinationHoldings], truth),
    ...compareReconciled(records.reconciled, records.spenders),
  );
  return found;
}
