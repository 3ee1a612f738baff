// The end of a run: balances are compared, what nothing explains is claimed, all records are gathered.
import type { Network } from '../../src/domain/assets.ts';
import { type Json, listAll } from './api.ts';
import { type Difference, keyOf, type Records, readRows, recordsOf } from './judge/records.ts';
import { addressAs, placeKey, readTruth, type Truth } from './judge/truth.ts';
import { MERCHANTS } from './plan/plan.ts';
import type { Done } from './play.ts';
import { spendersOf, waitUntilQuiet } from './quiet.ts';
import type { Stage } from './stage.ts';

/** One balance that the gateway says does not agree with its ledger. */
type Balance = {
  readonly network: Network;
  readonly address: string;
  readonly currency: string;
  readonly difference: string;
  readonly reason: string;
};
export type Reconciled = {
  /** What the gateway's own comparisons still find. */
  readonly differences: readonly Difference[];
  /** Deposits that only the comparison of balances found, and those that needed the operator's word. */
  readonly found: number;
  readonly claimed: number;
};

/** Whether this is no fault: money that the run itself has spent, as only a payout would. */
export function isOwnSpending(
  { network, address, difference }: Balance,
  spenders: readonly string[],
): boolean {
  return spenders.includes(`${network} ${addressAs(network, address)}`) && difference.startsWith('-');
}

/**
 * What an operator does after such a day: has the balances compared, and claims by
 * its hash what arrived and could not be attributed; only for balances that the
 * gateway itself listed, so that nothing is helped along which it did not notice.
 */
export async function reconcile(stage: Stage, say: (line: string) => void): Promise<Reconciled> {
  const before = await countOf(stage);
  let compared = await compare(stage);
  let restless = await waitUntilQuiet(stage, say);
  const found = (await countOf(stage)) - before;
  let claimed = 0;
  const missing = compared.left.filter(({ difference }) => !difference.startsWith('-'));
  if (missing.length > 0) {
    claimed = await claimListed(stage, missing, say);
    restless = await waitUntilQuiet(stage, say);
  }
  if (compared.left.length > 0 || found > 0) compared = await compare(stage);
  const differences = [...compared.refused];
  const rule = 'balances agree with the ledger';
  for (const one of compared.left) {
    const subject = placeKey(one.network, one.address, one.currency);
    differences.push({ rule, subject, detail: `${one.difference}: ${one.reason}` });
  }
  if (restless !== undefined)
    differences.push({ rule: 'the gateway comes to rest', subject: 'all', detail: restless });
  const books = await stage.operate(['reconcile', '--books']);
  if (books.json['ok'] !== true)
    differences.push({ rule: 'the ledger agrees with itself', subject: 'books', detail: told(books) });
  return { differences, found, claimed };
}

const told = ({ json, said }: { readonly json: Json; readonly said: string }): string =>
  `${JSON.stringify(json).slice(0, 2_000)} ${said.slice(-500)}`;

/** Each chain in turn, as an operator would. What the run itself has spent is left out. */
async function compare(stage: Stage): Promise<{ left: Balance[]; refused: Difference[] }> {
  const left: Balance[] = [];
  const refused: Difference[] = [];
  const spenders = spendersOf(stage.customers);
  for (const { network } of stage.chains) {
    const answer = await stage.operate(['reconcile', '--network', network]);
    if (answer.json['ok'] === undefined)
      refused.push({ rule: 'balances can be compared', subject: network, detail: told(answer) });
    else
      left.push(...(answer.json['differences'] as Balance[]).filter((one) => !isOwnSpending(one, spenders)));
  }
  return { left, refused };
}

async function countOf(stage: Stage): Promise<number> {
  const [row] = await stage.sql<{ n: number }>('select count(*)::int as n from deposits where not simulated');
  return row?.n ?? 0;
}

async function claimListed(
  stage: Stage,
  listed: readonly Balance[],
  say: (line: string) => void,
): Promise<number> {
  const known = new Set<string>();
  for (const merchant of MERCHANTS)
    for (const row of await listAll(stage.api, '/deposits', stage.keys[merchant].live)) known.add(keyOf(row));
  const places = new Set(listed.map((one) => placeKey(one.network, one.address, one.currency)));
  const hashes = new Map<string, Network>();
  for (const [key, { network, hash, address, currency }] of (await truthOf(stage)).credits)
    if (!known.has(key) && places.has(placeKey(network, address, currency))) hashes.set(hash, network);
  for (const [hash, network] of hashes) {
    const { status, said } = await stage.operate(['deposit', 'claim', '--tx', hash, '--network', network]);
    say(`the claim of ${hash} on ${network} was ${status === 0 ? 'taken' : `refused: ${said.slice(-300)}`}`);
  }
  return hashes.size;
}

/** The chains' own words about this run's customers, and about the wallets that pay and are paid. */
function truthOf({ chains, customers, gas, destinations }: Stage): Promise<Truth> {
  return readTruth(chains, (network) => ({
    live: new Set(customers.flatMap((one) => (one.mode === 'live' ? one.addresses[network] : []))),
    own: new Set(customers.map(({ addresses }) => addresses[network])),
    gas: new Set([gas[network]]),
    destinations: new Set(destinations.flatMap((one) => (one.network === network ? one.address : []))),
  }));
}

async function heldOf({ chains, customers, gas, destinations }: Stage): Promise<Records['held']> {
  const lists = chains.map(async (chain) => {
    const { network } = chain;
    const places = [
      ...customers.map(({ addresses }) => addresses[network]),
      gas[network],
      ...destinations.flatMap((one) => (one.network === network ? one.address : [])),
    ];
    const held: Records['held'][number][] = [];
    for (const address of places) held.push({ network, address, ...(await chain.held(address)) });
    return held;
  });
  return (await Promise.all(lists)).flat();
}

/** What the gateway shows, what the chains say and what the receivers remember. */
export async function gather(stage: Stage, done: Done, reconciled: Reconciled): Promise<Records> {
  const { customers, api, keys, hooks, destinations, gas } = stage;
  const listed: Json[] = [];
  for (const key of [keys.A.test, ...MERCHANTS.map((merchant) => keys[merchant].live)])
    listed.push(...(await listAll(api, '/customers', key)));
  return {
    truth: await truthOf(stage),
    held: await heldOf(stage),
    customers,
    destinations,
    gas: Object.entries(gas).map((entry) => entry.join(' ')),
    simulated: done.simulated,
    spent: done.spent,
    problems: done.problems,
    found: reconciled.differences,
    deposits: {
      A: await listAll(api, '/deposits', keys.A.live),
      B: await listAll(api, '/deposits', keys.B.live),
      C: await listAll(api, '/deposits', keys.C.live),
    },
    simulations: await listAll(api, '/deposits', keys.A.test),
    listed,
    internalErrors: api.counts.get('500') ?? 0,
    seen: new Map([...hooks].map(([name, hook]) => [name, recordsOf(hook)])),
    nameOf: new Map([...hooks].map(([name, hook]) => [hook.url, name])),
    ...(await readRows((text) => stage.sql(text))),
  };
}
