// Everything that holds of payouts, from the records of a run.
import type { Json } from '../api.ts';
import type { MerchantName, ReceiverName } from '../plan/plan.ts';
import { ENDPOINTS } from '../receivers.ts';
import type { Destination } from '../wallets.ts';
import type { Difference } from './compare.ts';
import type { Holding } from './holdings.ts';
import { compareAnnounced, compareDirections, compareWaiting, type SettledListener } from './paid-out.ts';
import type { PayoutRow, SentRow } from './payout-rows.ts';
import type { Seen } from './records.ts';
import type { DepositAccountRow } from './rows.ts';
import { compareCosts, compareLying, compareSent } from './sent.ts';
import { compareDestinations, compareOutgoing, compareSettlements, type Settled } from './settlements.ts';
import type { Truth } from './truth.ts';

export type PayoutRecords = {
  /** What the chains say together. */
  readonly truth: Truth;
  /** Live deposits by merchant, as the API lists them. */
  readonly deposits: Readonly<Record<MerchantName, readonly Json[]>>;
  readonly seen: ReadonlyMap<ReceiverName, ReadonlyMap<string, Seen>>;
  readonly depositAccounts: readonly DepositAccountRow[];
  readonly payouts: readonly PayoutRow[];
  readonly sentRows: readonly SentRow[];
  readonly destinations: readonly Destination[];
  /** What lies on deposit addresses, on wallets for gas and where merchants are paid out. */
  readonly holdings: readonly Holding[];
  readonly gasHoldings: readonly Holding[];
  readonly destinationHoldings: readonly Holding[];
  /** The networks on which the gateway says that it pays out. */
  readonly paysOut: Parameters<typeof compareWaiting>[0]['paysOut'];
  /** The addresses that the run itself spent from, each with its network before it, and its transactions. */
  readonly spenders: readonly string[];
  readonly spent: readonly string[];
};

/** Every difference of payouts; `settled` are the deposits that the API shows as paid out. */
export function comparePayouts(records: PayoutRecords, settled: readonly Settled[]): Difference[] {
  const { truth, payouts, sentRows: rows, depositAccounts, spenders, holdings, gasHoldings } = records;
  const spent = new Set(records.spent);
  const gas = new Set(gasHoldings.map(({ network, address }) => `${network} ${address}`));
  const own = holdings.filter(({ network, address }) => !spenders.includes(`${network} ${address}`));
  const addresses = [...own, ...gasHoldings];
  return [
    ...compareSettlements(truth, settled, { gas, spent }),
    ...compareOutgoing(truth, spent),
    ...compareDestinations(settled, records.destinationHoldings),
    ...compareSent(truth, rows, spent),
    ...compareCosts(truth, settled, payouts, rows),
    ...compareLying({ truth, settled, rows, depositAccounts, addresses, gas }),
    ...compareDirections(payouts, records.destinations),
    ...compareWaiting(records),
    ...compareAnnounced(listenersOf(records, settled)),
  ];
}

function listenersOf({ deposits, seen }: PayoutRecords, settled: readonly Settled[]): SettledListener[] {
  return Object.entries(ENDPOINTS).flatMap(([name, { merchant, mode, events }]) => {
    if (mode !== 'live' || !(events.includes('*') || events.includes('deposit.settled'))) return [];
    const ids = new Set(deposits[merchant].map((row) => String(row['id'])));
    const own = settled.filter(({ id }) => ids.has(id));
    return [{ name, settled: own, seen: [...(seen.get(name as ReceiverName)?.values() ?? [])] }];
  });
}
