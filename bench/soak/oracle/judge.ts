import type { Done } from '../actions.ts';
import { type Json, listAll } from '../api.ts';
import { MERCHANTS, OWN_WALLET } from '../plan.ts';
import type { Reconciled } from '../reconcile.ts';
import { ENDPOINTS, type Stage } from '../stage.ts';
import { type ChainTruth, readChain } from './chain-truth.ts';
import { compareCustomers, compareDeposits, compareEvents, compareReceived, compareSimulations, type Difference } from './compare.ts';
import { compareHoldings } from './holdings.ts';
import { compareSubscriptions, type Listener } from './receivers.ts';
import { compareReconciled } from './reconciled.ts';
import { recordsOf, type Seen } from './records.ts';
import { readAccounts, readDeliveries, readDepositAccounts, readSharedWallets } from './rows.ts';
import { compareDeliveries, compareDepositLedger, compareLedger, compareWalletIndexes } from './stores.ts';

export type Verdict = {
  readonly truth: ChainTruth;
  readonly deposits: readonly Json[];
  readonly simulations: readonly Json[];
  readonly seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>;
  readonly differences: readonly Difference[];
};

const LIVE_HEALTHY = { A: 'healthy-a', B: 'healthy-b' } as const;

/** Every receiver, with the healthy one of its merchant and mode. */
function listeners(): Listener[] {
  return Object.entries(ENDPOINTS).map(([name, { merchant, mode, events }]) => ({
    ...{ name, events, everything: mode === 'test' ? 'healthy-test' : LIVE_HEALTHY[merchant] },
  }));
}

/** The chain's own word about this run's customers. */
export async function judgedChain({ anvil, payer, customers }: Stage): Promise<ChainTruth> {
  const live = customers.filter((customer) => customer.mode === 'live');
  return await readChain((method, params) => anvil.rpc(method, params), {
    usdt: payer.usdt,
    live: new Set(live.map((customer) => customer.addresses.bsc)),
    own: new Set(customers.map((customer) => customer.addresses.bsc)),
  });
}

/** Compares what the gateway shows with the chain and with what the receivers remember. */
export async function judge(stage: Stage, done: Done, reconciled: Reconciled): Promise<Verdict> {
  const { customers, api, keys } = stage;
  const truth = await judgedChain(stage);
  const seen = new Map([...stage.hooks].map(([name, hook]) => [name, recordsOf(hook)]));
  const of = (name: keyof typeof LIVE_HEALTHY | 'test') =>
    seen.get(name === 'test' ? 'healthy-test' : LIVE_HEALTHY[name]) ?? new Map<string, Seen>();
  const differences: Difference[] = done.problems.map((detail) => ({ rule: 'the API serves whatever is sound', subject: 'API', detail }));
  const internal = api.counts.get('500') ?? 0;
  if (internal > 0) differences.push({ rule: 'the API never answers 500', subject: 'API', detail: `${internal} times` });

  const deposits: Json[] = [];
  const listed: Json[] = await listAll(api, '/customers', keys.A.test);
  for (const merchant of MERCHANTS) {
    const own = await listAll(api, '/deposits', keys[merchant].live);
    differences.push(...compareEvents(own, of(merchant)));
    deposits.push(...own);
    listed.push(...(await listAll(api, '/customers', keys[merchant].live)));
  }
  const simulations = await listAll(api, '/deposits', keys.A.test);
  differences.push(...compareDeposits(truth, deposits), ...compareSimulations(done.simulated, simulations, [...of('test').values()]));
  const healthy = [of('A'), of('B'), of('test')].flatMap((records) => [...records.values()]);
  differences.push(...compareCustomers(customers, listed, healthy));
  for (const [name, records] of seen) {
    const isLive = name !== 'healthy-test';
    const merchant = ['healthy-b', 'hanging', 'resetting'].includes(name) ? 'B' : 'A';
    const ids = customers.filter((customer) => customer.merchant === merchant && (customer.mode === 'live') === isLive);
    differences.push(...compareReceived([...records.values()], truth, new Set(ids.map((customer) => customer.id)), isLive));
  }
  differences.push(...compareSubscriptions(listeners(), seen));
  differences.push(...compareLedger(await readAccounts(stage), truth, done.simulated));
  differences.push(...compareDepositLedger(await readDepositAccounts(stage), truth));
  const nameOf = new Map([...stage.hooks.values()].map((hook) => [hook.url, hook.name]));
  differences.push(...compareDeliveries(await readDeliveries(stage), nameOf, seen));
  differences.push(...compareWalletIndexes(await readSharedWallets(stage)));
  const addresses = customers.map((customer) => customer.addresses.bsc);
  const holdings = await Promise.all(addresses.map(async (address) => ({ address, ...(await stage.payer.holdings(address)) })));
  differences.push(...compareHoldings(holdings, truth));
  const spender = customers.find((customer) => customer.number === OWN_WALLET)?.addresses.bsc;
  differences.push(...compareReconciled(reconciled, spender));
  return { truth, deposits, simulations, seen, differences };
}
