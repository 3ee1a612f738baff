import type { Random } from '../../../dev/random.ts';
import type { Network } from '../../../src/domain/assets.ts';
import { type ChainPlan, chainRandom, PLANNED } from './networks.ts';

/** What befalls the parts of the gateway and what it reads from, beside the money. */
export const VICTIMS = ['api', 'worker-1', 'worker-2', 'signer', 'temporal', 'postgres'] as const;
export type Victim = (typeof VICTIMS)[number];
/** Those that are also stopped without being ended. */
export const FROZEN = ['worker-1', 'worker-2', 'signer', 'api'] as const;
export type Frozen = (typeof FROZEN)[number];

export type RpcAction = {
  readonly kind: 'rpc';
  readonly network: Network;
  readonly endpoints: readonly number[];
  readonly fault: string;
  readonly forMs: number;
};
/**
 * The second endpoint lies about the newest blocks, mostly while the
 * first one does not answer; the tip may be replaced in the middle of it.
 */
export type LieAction = {
  readonly kind: 'lie';
  readonly network: Network;
  readonly lie: string;
  readonly alone: boolean;
  readonly reorgDepth: number;
  readonly forMs: number;
};
export type KillAction = { readonly kind: 'kill'; readonly victim: Victim; readonly downMs: number };
/**
 * The process stops where it is, inside a transaction perhaps, and goes on later: a machine that was paused.
 */
export type FreezeAction = { readonly kind: 'freeze'; readonly victim: Frozen; readonly forMs: number };
export type Trouble = RpcAction | LieAction | KillAction | FreezeAction;

const PER_MINUTE = { rpc: 6, lie: 3, kill: 5, freeze: 3 } as const;

type At<T> = T & { readonly atMs: number };

/** The troubles of a run: each kind at least once in each of its forms. */
export function planTroubles(random: Random, minutes: number, lastsMs: number): At<Trouble>[] {
  const count = (kind: keyof typeof PER_MINUTE, least: number, share = 1) =>
    Math.max(least, Math.round(minutes * PER_MINUTE[kind] * share));
  const ofChains = PLANNED.flatMap((chain): At<Trouble>[] => {
    const own = chainRandom(random, chain.network);
    return [
      ...planRpcFaults(chain, own.fork('rpc'), lastsMs, count('rpc', 1, chain.share)),
      ...planLies(chain, own.fork('lies'), lastsMs, count('lie', chain.lies.length, chain.share)),
    ];
  });
  return [
    ...ofChains,
    ...planFreezes(random.fork('freezes'), lastsMs, count('freeze', FROZEN.length)),
    ...planKills(random.fork('kills'), lastsMs, count('kill', VICTIMS.length)),
  ];
}

/** Every fault in turn, in an order of its own each time, and none left out that no run goes without. */
function planRpcFaults(
  { network, faults, always, onOneOnly }: ChainPlan,
  draws: Random,
  lastsMs: number,
  count: number,
): At<RpcAction>[] {
  const chosen = inTurns(faults, count, draws);
  chosen.push(...always.filter((fault) => !chosen.includes(fault)));
  return chosen.map((fault) => {
    const endpoints = draws.chance(0.35) && !onOneOnly.includes(fault) ? [0, 1] : [draws.int(0, 1)];
    const atMs = draws.int(1_000, Math.max(1_000, lastsMs - 1_000));
    return { kind: 'rpc', network, endpoints, fault, forMs: draws.int(2_000, 12_000), atMs };
  });
}

/** Every lie in turn. One that hangs on a tip is of no interest while the tip stays: then it is replaced. */
function planLies(
  { network, lies }: ChainPlan,
  draws: Random,
  lastsMs: number,
  count: number,
): At<LieAction>[] {
  return inTurns(lies, count, draws).map((lie) => {
    const reorgDepth = lie.startsWith('hangs') ? draws.int(1, 3) : 0;
    const atMs = draws.int(1_000, Math.max(1_000, lastsMs - 1_000));
    const alone = draws.chance(0.75);
    return { kind: 'lie', network, lie, alone, reorgDepth, forMs: draws.int(3_000, 12_000), atMs };
  });
}

function planFreezes(draws: Random, lastsMs: number, count: number): At<FreezeAction>[] {
  return inTurns(FROZEN, count, draws).map((victim) => ({
    kind: 'freeze',
    victim,
    forMs: draws.int(2_000, 25_000),
    atMs: draws.int(1_000, Math.max(1_000, lastsMs - 10_000)),
  }));
}

/** Every one of them in turn, in an order of its own each time. */
function inTurns<T>(list: readonly T[], count: number, draws: Random): T[] {
  const chosen: T[] = [];
  while (chosen.length < count) chosen.push(...draws.shuffle(list));
  return chosen.slice(0, count);
}

/** Every victim in turn, in an order of its own each time, none in the last five seconds. */
function planKills(draws: Random, lastsMs: number, count: number): At<KillAction>[] {
  const every = Math.max(1, lastsMs - 10_000) / count;
  return inTurns(VICTIMS, count, draws).map((victim, index) => ({
    kind: 'kill' as const,
    victim,
    downMs: draws.int(300, 7_000),
    atMs: Math.round(4_000 + every * index + draws.next() * every * 0.8),
  }));
}
