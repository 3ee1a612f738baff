import type { Network } from '../../../src/domain/assets.ts';
import { type Json, listAll } from '../api.ts';
import { PLANNED } from '../plan/networks.ts';
import { MERCHANTS } from '../plan/plan.ts';
import type { Done } from '../play.ts';
import type { Customer, Stage } from '../stage.ts';
import type { Difference } from './compare.ts';
import type { Holding } from './holdings.ts';
import { readPayouts, readSent } from './payout-rows.ts';
import { type Reconciled, spendersOf } from './reconciled.ts';
import { recordsOf, type Seen } from './records.ts';
import {
  readAccounts,
  readDeliveries,
  readDepositAccounts,
  readSetAside,
  readSharedWallets,
} from './rows.ts';
import { type ChainTruth, together } from './truth.ts';
import { compareAll, type Records } from './verdict.ts';

export type Verdict = {
  readonly truths: ReadonlyMap<Network, ChainTruth>;
  readonly deposits: readonly Json[];
  readonly simulations: readonly Json[];
  readonly seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>;
  readonly differences: readonly Difference[];
};

/** The chains' own words about this run's customers, and about the wallets that pay and are paid. */
export async function judgedChains({
  chains,
  customers,
  gas,
  destinations,
}: Stage): Promise<Map<Network, ChainTruth>> {
  const truths = new Map<Network, ChainTruth>();
  for (const chain of chains) {
    const { network } = chain;
    const addressesOf = (list: readonly Customer[]) =>
      new Set(list.map(({ addresses }) => addresses[network]));
    const live = addressesOf(customers.filter((customer) => customer.mode === 'live'));
    const paid = destinations.filter((one) => one.network === network).map(({ address }) => address);
    truths.set(
      network,
      await chain.truth({
        live,
        own: addressesOf(customers),
        gas: new Set([gas[network]]),
        destinations: new Set(paid),
      }),
    );
  }
  return truths;
}

/** What lies on the addresses that `of` names for each chain. */
async function holdingsOf(
  { chains }: Stage,
  of: (network: Network) => readonly string[],
): Promise<Holding[]> {
  const found = await Promise.all(
    chains.flatMap((chain) =>
      of(chain.network).map(async (address) => ({
        network: chain.network,
        address,
        ...(await chain.holdings(address)),
      })),
    ),
  );
  return found;
}

/** Gathers what the gateway shows, what the chain says and what the receivers remember, and compares. */
export async function judge(stage: Stage, done: Done, reconciled: Reconciled): Promise<Verdict> {
  const { customers, api, keys, hooks, destinations } = stage;
  const deposits = {
    A: await listAll(api, '/deposits', keys.A.live),
    B: await listAll(api, '/deposits', keys.B.live),
    C: await listAll(api, '/deposits', keys.C.live),
  };
  const listed: Json[] = [];
  for (const key of [keys.A.test, ...MERCHANTS.map((merchant) => keys[merchant].live)])
    listed.push(...(await listAll(api, '/customers', key)));
  const truths = await judgedChains(stage);
  const records: Records = {
    truth: together([...truths.values()]),
    customers,
    simulated: done.simulated,
    problems: done.problems,
    deposits,
    listed,
    reconciled,
    seen: new Map([...hooks].map(([name, hook]) => [name, recordsOf(hook)])),
    nameOf: new Map([...hooks.values()].map((hook) => [hook.url, hook.name])),
    internalErrors: api.counts.get('500') ?? 0,
    simulations: await listAll(api, '/deposits', keys.A.test),
    accounts: await readAccounts(stage),
    depositAccounts: await readDepositAccounts(stage),
    deliveries: await readDeliveries(stage),
    sharedWallets: await readSharedWallets(stage),
    setAside: await readSetAside(stage),
    payouts: await readPayouts(stage),
    sentRows: await readSent(stage),
    destinations,
    holdings: await holdingsOf(stage, (network) => customers.map(({ addresses }) => addresses[network])),
    gasHoldings: await holdingsOf(stage, (network) => [stage.gas[network]]),
    destinationHoldings: await holdingsOf(stage, (network) =>
      destinations.filter((one) => one.network === network).map(({ address }) => address),
    ),
    paysOut: PLANNED.filter((chain) => chain.paysOut).map(({ network }) => network),
    spenders: spendersOf(customers),
    spent: done.spent,
  };
  const { seen, simulations } = records;
  return {
    truths,
    deposits: MERCHANTS.flatMap((merchant) => deposits[merchant]),
    simulations,
    seen,
    differences: compareAll(records),
  };
}
