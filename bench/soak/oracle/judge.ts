import { type Json, listAll } from '../api.ts';
import { OWN_WALLET } from '../plan/plan.ts';
import type { Done } from '../play.ts';
import type { Stage } from '../stage.ts';
import { type ChainTruth, readChain } from './chain-truth.ts';
import type { Difference } from './compare.ts';
import type { Reconciled } from './reconciled.ts';
import { recordsOf, type Seen } from './records.ts';
import {
  readAccounts,
  readDeliveries,
  readDepositAccounts,
  readSetAside,
  readSharedWallets,
} from './rows.ts';
import { compareAll, type Records } from './verdict.ts';

export type Verdict = {
  readonly truth: ChainTruth;
  readonly deposits: readonly Json[];
  readonly simulations: readonly Json[];
  readonly seen: ReadonlyMap<string, ReadonlyMap<string, Seen>>;
  readonly differences: readonly Difference[];
};

/** The chain's own word about this run's customers. */
export async function judgedChain({ anvil, payer, customers }: Stage): Promise<ChainTruth> {
  const live = customers.filter((customer) => customer.mode === 'live');
  return await readChain((method, params) => anvil.rpc(method, params), {
    usdt: payer.usdt,
    live: new Set(live.map((customer) => customer.addresses.bsc)),
    own: new Set(customers.map((customer) => customer.addresses.bsc)),
  });
}

/** Gathers what the gateway shows, what the chain says and what the receivers remember, and compares. */
export async function judge(stage: Stage, done: Done, reconciled: Reconciled): Promise<Verdict> {
  const { customers, api, keys, hooks, payer } = stage;
  const deposits = {
    A: await listAll(api, '/deposits', keys.A.live),
    B: await listAll(api, '/deposits', keys.B.live),
  };
  const listed: Json[] = [];
  for (const key of [keys.A.test, keys.A.live, keys.B.live])
    listed.push(...(await listAll(api, '/customers', key)));
  const addresses = customers.map((customer) => customer.addresses.bsc);
  const records: Records = {
    truth: await judgedChain(stage),
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
    holdings: await Promise.all(
      addresses.map(async (address) => ({ address, ...(await payer.holdings(address)) })),
    ),
    spender: customers.find((customer) => customer.number === OWN_WALLET)?.addresses.bsc,
  };
  const { truth, seen, simulations } = records;
  return {
    truth,
    deposits: [...deposits.A, ...deposits.B],
    simulations,
    seen,
    differences: compareAll(records),
  };
}
