import type { Random } from '../../../dev/random.ts';
import { chainOf } from '../../../src/chains/index.ts';
import type { Currency, Network } from '../../../src/domain/assets.ts';
import { BSC_FAULTS, BSC_LIES, BSC_SHAPES } from '../bsc/names.ts';
import { TRON_FAULTS, TRON_LIES, TRON_SHAPES } from '../tron/names.ts';

/** What can be planned on one chain: the names that its side of the run knows. */
export type ChainPlan = {
  readonly network: Network;
  /** Shapes of payments in its own coin begin with its name in small letters. */
  readonly coin: Currency;
  /** How much happens here, of what happens on BNB Chain. */
  readonly share: number;
  readonly shapes: Readonly<Record<string, number>>;
  /** Shapes of what is mined twice. */
  readonly rebornShapes: readonly string[];
  readonly faults: readonly string[];
  /** Faults that no run goes without, however short. */
  readonly always: readonly string[];
  /**
   * With these on all endpoints nothing could be read for a minute
   * and more: an endpoint of a wrong chain is left alone that long.
   */
  readonly onOneOnly: readonly string[];
  readonly lies: readonly string[];
  /** Whether the gateway pays out there. */
  readonly paysOut: boolean;
};

/** The chains of a run. */
export const PLANNED: readonly ChainPlan[] = [
  {
    network: 'bsc',
    coin: 'BNB',
    share: 1,
    shapes: BSC_SHAPES,
    // Seen in the logs, in the transaction itself, and only in a trace.
    rebornShapes: ['usdt', 'bnb', 'usdt_through_contract', 'bnb_through_contract', 'bnb_and_usdt'],
    faults: BSC_FAULTS,
    always: [],
    // A refusal by every endpoint is believed for ten minutes.
    onOneOnly: ['serves another chain', 'has no chain id', 'trial_refused'],
    lies: BSC_LIES,
    paysOut: chainOf('bsc').paysOut,
  },
  {
    network: 'tron',
    coin: 'TRX',
    share: 0.5,
    shapes: TRON_SHAPES,
    // Seen in the logs, in the transaction itself, and only in what a node saves of contracts.
    rebornShapes: ['usdt', 'trx', 'usdt_through_contract', 'trx_through_contract', 'trx_and_usdt'],
    faults: TRON_FAULTS,
    always: ['the node is restarted'],
    onOneOnly: ['is another chain'],
    lies: TRON_LIES,
    paysOut: chainOf('tron').paysOut,
  },
];

/** The draws of one chain: those of BNB Chain are the same whatever else is planned. */
export function chainRandom(random: Random, network: Network): Random {
  return network === 'bsc' ? random : random.fork(network);
}
