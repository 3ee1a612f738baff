import type { Network } from '../../../src/domain/assets.ts';
import { type Json, listAll } from '../api.ts';
import type { SoakChain } from '../chain.ts';
import type { Done } from '../play.ts';
import type { Customer, Stage } from '../stage.ts';
import type { Difference } from './compare.ts';
import type { Holding } from './holdings.ts';
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

/** The chains' own words about this run's customers. */
export async function judgedChains({ chains, customers }: Stage): Promise<Map<Network, ChainTruth>> {
  const truths = new Map<Network, ChainTruth>();
  for (const chain of chains) {
    const { network } = chain;
    const addressesOf = (list: readonly Customer[]) =>
      new Set(list.map(({ addresses }) => addresses[network]));
    const live = addressesOf(customers.filter((customer) => customer.mode === 'live'));
    truths.set(network, await chain.truth({ live, own: addressesOf(customers) }));
  }
  return truths;
}

function holdingsOn(chain: SoakChain, customers: readonly Customer[]): Promise<Holding[]> {
  const { network } = chain;
  return Promise.all(
    customers.map(async ({ addresses: { [network]: address } }) => ({
      network,
      address,
      ...(await chain.holdings(address)),
    })),
  );
}

/** Gathers what the gateway shows, what the chain says and what the receivers remember, and compares. */
export async function judge(stage: Stage, done: Done, reconciled: Reconciled): Promise<Verdict> {
  const { customers, api, keys, hooks } = stage;
  const deposits = {
    A: await listAll(api, '/deposits', keys.A.live),
    B: await listAll(api, '/deposits', keys.B.live),
  };
  const listed: Json[] = [];
  for (const key of [keys.A.test, keys.A.live, keys.B.live])
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
    holdings: (await Promise.all(stage.chains.map((chain) => holdingsOn(chain, customers)))).flat(),
    spenders: spendersOf(customers),
  };
  const { seen, simulations } = records;
  return {
    truths,
    deposits: [...deposits.A, ...deposits.B],
    simulations,
    seen,
    differences: compareAll(records),
  };
}
