import type { Network } from './assets.ts';
/**
 * The parts of watching a chain; each can stand still by itself. `block time` is the clock that its blocks
 * are, where ours does not agree with it.
 */
export const CHAIN_PARTS = [
  'first read',
  'second read',
  'roll-back',
  'reconciliation',
  'block time',
] as const;
export type ChainPart = (typeof CHAIN_PARTS)[number];

/**
 * What a part cannot get past: the block it failed at, how often in a row, since when (ISO 8601),
 * the last reason, and what an operator does about it.
 */
export type ChainStop = {
  readonly number: number;
  readonly tries: number;
  readonly since: string;
  readonly reason: string;
  readonly action: string;
  /** Of `block time`: by how many milliseconds our clock was ahead of the block's. */
  readonly aheadMs?: number;
};

export type ChainStops = Partial<Readonly<Record<ChainPart, ChainStop>>>;

/**
 * A part of the watching of a chain that does not go on. `number` is the height it stands at, `sinceMs` for
 * how long in milliseconds. `reason` says what stops it, where that is known: a watcher that does not respond
 * or does not run leaves none. `action` is what an operator does next.
 */
export type Standstill = {
  readonly network: Network;
  readonly part: ChainPart | 'finality';
  readonly number: number;
  readonly sinceMs: number;
  readonly reason: string | null;
  readonly action: string;
};

/**
 * The time of a newest block is a clock that neither this machine nor PostgreSQL sets. Blocks come late, and
 * their producers' clocks differ: less than this says nothing.
 */
const AGREES_MS = 60_000;
/**
 * A wrong clock is off by the same time again and again. The newest block of an endpoint that falls behind,
 * or that catches up, is off by another time with every block.
 */
const STEADY_MS = 30_000;
/** One chain's endpoints can all lag; after this long somebody has to look all the same. */
const ONE_CHAIN_MS = 5 * 60_000;

/** What is noted of a newest block: by how many milliseconds our clock was ahead of the block's time. */
export type SeenBlock = { readonly number: number; readonly aheadMs: number; readonly at: Date };
/** What is known of one chain: its notes, and when its head moved last. */
export type ChainTime = {
  readonly network: Network;
  readonly stops: ChainStops;
  readonly movedAt: Date;
};

const ACTION =
  'compare the clock of this machine with another one and let NTP set it; if it is right, the RPC endpoints are behind: use ones that are in sync';

/** The note after a block whose number was not seen before; undefined where both clocks agree. */
export function noteOf(before: ChainStop | undefined, seen: SeenBlock): ChainStop | undefined {
  const { number, aheadMs, at } = seen;
  if (Math.abs(aheadMs) <= AGREES_MS) return undefined;
  const isSteady = before?.aheadMs !== undefined && Math.abs(before.aheadMs - aheadMs) <= STEADY_MS;
  const kept = isSteady
    ? { since: before.since, aheadMs: before.aheadMs, tries: before.tries + 1 }
    : { since: at.toISOString(), aheadMs, tries: 1 };
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const reason = `its newest block is of a time ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the worker's clock, so links are judged wrongly and receivers may refuse webhooks`;
  return { ...kept, number, reason, action: ACTION };
}

/**
 * The chains by whose blocks our clock is wrong: two that differ from it by the same time, or one that has
 * for five minutes. A chain whose head did not move lately tells no time.
 */
export function wrongClock(chains: readonly ChainTime[], now: Date): Standstill[] {
  const off = chains.flatMap(({ network, stops, movedAt }) => {
    const stop = stops['block time'];
    if (!stop || stop.tries < 2 || now.getTime() - movedAt.getTime() >= ONE_CHAIN_MS) return [];
    const { number, reason, action, since, aheadMs = 0 } = stop;
    const sinceMs = movedAt.getTime() - new Date(since).getTime();
    return [{ network, part: 'block time' as const, number, sinceMs, reason, action, aheadMs }];
  });
  const agrees = (one: (typeof off)[number]): boolean =>
    off.some((other) => other !== one && Math.abs(other.aheadMs - one.aheadMs) <= STEADY_MS);
  return off
    .filter((one) => one.sinceMs >= ONE_CHAIN_MS || agrees(one))
    .map(({ aheadMs: _, ...standstill }) => standstill);
}
