import type { Network } from '../../../src/domain/assets.ts';
import { BSC_FAULTS, BSC_LIES } from '../chains/bsc-faults.ts';
import { TRON_FAULTS, TRON_LIES, TRON_RESTART } from '../chains/tron-faults.ts';
import { SHAPES, type Shape } from './shapes.ts';

/** What can be planned on one chain. */
export type ChainPlan = {
  readonly network: Network;
  /** How much happens here, of what happens on BNB Chain. */
  readonly share: number;
  readonly shapes: Readonly<Record<Shape, number>>;
  readonly faults: readonly string[];
  readonly lies: readonly string[];
  /** A fault that no run goes without, however short. */
  readonly always: readonly string[];
  /** On all endpoints nothing could be read for a minute and more: a refusal by all is believed for long. */
  readonly onOneOnly: readonly string[];
};
/** The chains of a run. */
export const PLANNED: readonly ChainPlan[] = [
  {
    network: 'bsc',
    share: 1,
    shapes: SHAPES,
    faults: Object.keys(BSC_FAULTS),
    lies: Object.keys(BSC_LIES),
    always: [],
    onOneOnly: ['serves another chain', 'has no chain id', 'trial_refused'],
  },
  {
    network: 'tron',
    share: 0.5,
    // No node of Tron takes a transfer of nothing.
    shapes: { ...SHAPES, coin_zero: 0 },
    faults: Object.keys(TRON_FAULTS),
    lies: Object.keys(TRON_LIES),
    always: [TRON_RESTART],
    onOneOnly: ['is another chain'],
  },
];
