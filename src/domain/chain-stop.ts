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
