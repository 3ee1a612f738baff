/** The parts of following a chain that can stand still each by itself. */
export const CHAIN_PARTS = ['first read', 'second read', 'roll-back', 'reconciliation'] as const;
export type ChainPart = (typeof CHAIN_PARTS)[number];

/** What a part cannot get past: the block it failed at, how often in a row, since when (ISO 8601), the last reason, and what an operator does. */
export type ChainStop = {
  readonly number: number;
  readonly tries: number;
  readonly since: string;
  readonly reason: string;
  readonly action: string;
};

export type ChainStops = Partial<Readonly<Record<ChainPart, ChainStop>>>;
