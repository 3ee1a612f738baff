// The oracle's judgement: pure, from records that were gathered
// before. What is true is what the chain and the receivers say.
import type { Json } from '../api.ts';
import type { MerchantName, ReceiverName, SimulateAction } from '../plan/plan.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Customer } from '../stage.ts';
import {
  compareCustomers,
  compareDeposits,
  compareEvents,
  compareReceived,
  type Difference,
} from './compare.ts';
import { compareHoldings, type Holding } from './holdings.ts';
import { compareSubscriptions } from './listeners.ts';
import type { Reconciled } from './reconciled.ts';
import { compareReconciled } from './reconciled.ts';
import type { Seen } from './records.ts';
import type { AccountRow, DeliveryRow, DepositAccountRow, SetAsideRow, WalletRow } from './rows.ts';
import { compareSimulations } from './simulations.ts';
import {
  compareDeliveries,
  compareDepositLedger,
  compareLedger,
  compareSetAside,
  compareWalletIndexes,
} from './stores.ts';
import type { Truth } from './truth.ts';

export type Records = {
  /** What the chains say together. */
  readonly truth: Truth;
  /** What each receiver remembers, by event id. */
  readonly seen: ReadonlyMap<ReceiverName, ReadonlyMap<string, Seen>>;
  readonly customers: readonly Customer[];
  readonly simulated: readonly { readonly action: SimulateAction; readonly depositId: string }[];
  /** Refusals of what is sound, and how often the API answered 500. */
  readonly problems: readonly string[];
  readonly internalErrors: number;
  /** What the API lists: live deposits by merchant, test deposits, customers of every merchant and mode. */
  readonly deposits: Readonly<Record<MerchantName, readonly Json[]>>;
  readonly simulations: readonly Json[];
  readonly listed: readonly Json[];
  readonly accounts: readonly AccountRow[];
  readonly depositAccounts: readonly DepositAccountRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly sharedWallets: readonly WalletRow[];
  readonly setAside: readonly SetAsideRow[];
  /** Receivers by the URL at which they are registered. */
  readonly nameOf: ReadonlyMap<string, string>;
  readonly holdings: readonly Holding[];
  readonly reconciled: Pick<Reconciled, 'left' | 'refused'>;
  /** The addresses that the run itself spent from, each with its network before it. */
  readonly spenders: readonly string[];
};

/** The receiver of each merchant and mode that takes everything at once. */
const HEALTHY = {
  live: { A: 'healthy-a', B: 'healthy-b' },
  test: { A: 'healthy-test', B: 'healthy-test' },
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
  found.push(
    ...compareEvents(deposits.A, healthy('live', 'A')),
    ...compareEvents(deposits.B, healthy('live', 'B')),
  );
  const owners = new Map(
    customers.flatMap((customer) =>
      Object.entries(customer.addresses).map((entry) => [entry.join(' '), customer]),
    ),
  );
  found.push(...compareDeposits(truth, [...deposits.A, ...deposits.B], owners));
  found.push(...compareSimulations(simulated, simulations, [...healthy('test', 'A').values()]));
  const announced = [healthy('live', 'A'), healthy('live', 'B'), healthy('test', 'A')].flatMap((list) => [
    ...list.values(),
  ]);
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
  found.push(
    ...compareLedger(records.accounts, truth, simulated),
    ...compareDepositLedger(records.depositAccounts, truth),
  );
  found.push(
    ...compareDeliveries(records.deliveries, records.nameOf, seen),
    ...compareWalletIndexes(records.sharedWallets),
  );
  found.push(...compareSetAside(records.setAside, truth));
  found.push(
    ...compareHoldings(records.holdings, truth),
    ...compareReconciled(records.reconciled, records.spenders),
  );
  return found;
}
