// What a step of a payout has in hand, and what it may say.

import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Spending } from '../../../chains/spending.ts';
import type { Payout } from '../../../db/entities/index.ts';
import type { Network } from '../../../domain/assets.ts';
import type { Wait } from '../../../domain/payouts/facts.ts';
import type { PayoutState } from '../../../domain/settlement.ts';
import { unlessBusy } from '../../busy.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import type { GasWallet } from '../gas.ts';
import { Outdated } from '../plan.ts';
import { type Asks, Crowded, IN_LINE_MS, type Turn } from './asking.ts';

export type SettlementDeps = Deps & {
  readonly chains: ReadonlyMap<string, WatchedChain>;
  /** Unset: any number of steps may ask endpoints at a time. */
  readonly asks?: Asks | undefined;
  /** Unset: a step knows nothing of those before it. */
  readonly memory?: PayoutMemory | undefined;
};

/** The address whose completed deposits are paid out. `alarmed`: its wait was reported already. */
export type SettlementInput = {
  readonly network: Network;
  readonly addressKey: AddressKey;
  readonly alarmed: boolean;
};

export type SettlementStep =
  /** A step was made: look again at once. */
  | { readonly kind: 'went'; readonly state: PayoutState; readonly note: string }
  /** Nothing is to be done before something changes, of which the actor is told. */
  | { readonly kind: 'rest'; readonly note: string }
  | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number; readonly stuck: boolean };

/** Money of one asset on one address, and where it is to go; without an id before it is planned. */
export type Outgoing = Pick<Payout, 'network' | 'addressKey' | 'address' | 'currency' | 'grossUnits'> &
  Pick<Payout, 'destination'> & { readonly id?: string };

type Terms = Readonly<Record<string, string | number>>;
/** The next transaction that it takes. */
export type Ready =
  | { readonly does: 'pay_out'; readonly units: bigint; readonly terms: Terms }
  | {
      readonly does: 'top_up' | 'lend';
      readonly from: GasWallet;
      readonly units: bigint;
      readonly terms: Terms;
    };

export type Assessing = Deps & {
  readonly chain: WatchedChain;
  readonly spending: Spending;
  readonly signal: AbortSignal;
  readonly turn?: Turn | undefined;
  readonly memory: PayoutMemory;
};

/** A wait, with the coins that somebody has to send first, if so. */
export type Held = Wait & {
  readonly needs?: { readonly units: bigint; readonly address: string } | undefined;
};

/** What steps of one process tell each other, so that thousands of addresses do not ask for the same. */
export type PayoutMemory = {
  /** That the gas wallet had too little, until it is asked again; with what it held, and when. */
  readonly lacking: Map<
    Network,
    { readonly wait: Held; readonly until: number; readonly coins: bigint; readonly at: Date }
  >;
  /** The coins of the wallet that was asked about last: all payouts of a chain ask about the same one. */
  readonly coins: Map<
    Network,
    {
      readonly addressKey: AddressKey;
      readonly blockNumber: number;
      readonly units: bigint;
      readonly atMs: number;
    }
  >;
  /** Until when transfers are tried with care, because one has failed. */
  readonly carefulUntil: Map<Network, number>;
};

/** Nothing is known yet. */
export const newMemory = (): PayoutMemory => ({
  lacking: new Map(),
  coins: new Map(),
  carefulUntil: new Map(),
});

/** A step asks endpoints a few times; each has a shorter limit of its own. */
const STEP_MS = 30_000;
const NOT_HERE_MS = 5_000;
/** Another process went on: its rows say what is next. */
const AGAIN_MS = 50;

type Waiting = SettlementStep & { readonly kind: 'wait' };

/**
 * A step that asks the endpoints of a chain, when it is the turn of whoever `turnOf` names. A wait where this
 * process has no endpoints for the chain, it is not its turn, or another process went on.
 */
export async function stepOverChain<Step>(
  deps: SettlementDeps,
  {
    network,
    addressKey,
    name,
    turnOf,
  }: Pick<SettlementInput, 'network' | 'addressKey'> & {
    readonly name: string;
    readonly turnOf: () => Promise<string>;
  },
  take: (deps: Assessing) => Promise<Step>,
): Promise<Step | Waiting> {
  const waiting = (reason: string, delayMs: number): Waiting => {
    return { kind: 'wait', reason, delayMs, stuck: false };
  };
  const chain = deps.chains.get(network);
  if (!chain?.spending)
    return waiting(`this worker has no RPC endpoints for ${network}: set them and restart it`, NOT_HERE_MS);
  const turn = deps.asks?.(turnOf);
  const { memory = newMemory() } = deps;
  const signal = AbortSignal.timeout(STEP_MS + IN_LINE_MS);
  const assessing = { ...deps, chain, spending: chain.spending, signal, turn, memory };
  try {
    return await unlessBusy(deps, { name, id: addressKey }, () => take(assessing));
  } catch (error) {
    if (error instanceof Crowded) return waiting(error.message, error.delayMs);
    // A key that is taken: another process has planned or asked for the same a moment before.
    const isLate = error instanceof Outdated || error instanceof UniqueConstraintViolationException;
    if (!isLate) throw error;
    return waiting(`another process went on: ${error.message}`, AGAIN_MS);
  } finally {
    turn?.end();
  }
}
