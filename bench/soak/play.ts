import { setTimeout as sleep } from 'node:timers/promises';
import type { Network } from '../../src/domain/assets.ts';
import type { SimulateAction } from './plan/plan.ts';
import type { Victim } from './plan/plan-troubles.ts';
import type { Customer, Stage } from './stage.ts';

/** What happened, for the report. The oracle reads of it only `problems` and what the API confirmed. */
export type Done = {
  readonly counts: Map<string, number>;
  /** Things that must not happen whatever is down: the API refusing something sound, say. */
  readonly problems: string[];
  /** Simulations that the API confirmed. */
  readonly simulated: { readonly action: SimulateAction; readonly depositId: string }[];
  /** Transactions that the run itself sent out of one of the gateway's wallets. */
  readonly spent: string[];
  readonly log: string[];
};

type Turn = Victim | `reborn ${Network}`;

/** What the actions of one run share. */
export type Play = {
  readonly stage: Stage;
  readonly done: Done;
  readonly beganMs: number;
  /** Customers by the number of the plan, also those who are only being made. */
  readonly customers: Map<number, PromiseWithResolvers<Customer>>;
  /**
   * One process is killed and started again by one action at
   * a time, and on each chain one transaction is mined twice at a time.
   */
  readonly turns: Map<Turn, Promise<void>>;
  /** How many have a turn or wait for it. */
  readonly queued: Map<Turn, number>;
};

const CUSTOMER_WITHIN_MS = 130_000;

/** Begins a run over a stage that stands. */
export function beginPlay(stage: Stage): Play {
  const done: Done = { counts: new Map(), problems: [], simulated: [], spent: [], log: [] };
  return { stage, done, beganMs: Date.now(), customers: new Map(), turns: new Map(), queued: new Map() };
}

/** One more of these in the report. */
export function count({ done }: Play, what: string): void {
  done.counts.set(what, (done.counts.get(what) ?? 0) + 1);
}

/** A line of the run's own log. */
export function note({ done, beganMs }: Play, text: string): void {
  done.log.push(`${((Date.now() - beganMs) / 1_000).toFixed(1).padStart(7)} s  ${text}`);
}

/** The place of a customer of the plan, also of one who is only being made. */
export function placeOf({ customers }: Play, number: number): PromiseWithResolvers<Customer> {
  const known = customers.get(number) ?? Promise.withResolvers<Customer>();
  customers.set(number, known);
  return known;
}

/** A customer of the plan, waited for where the API is away just now. */
export async function customerOf(play: Play, number: number): Promise<Customer> {
  const late = sleep(CUSTOMER_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`customer ${number} was not made in time`);
  });
  return await Promise.race([placeOf(play, number).promise, late]);
}

/** Does the work when what had this turn before is over, however that ended. */
export async function inTurn(play: Play, whose: Turn, work: () => Promise<void>): Promise<void> {
  const queue = (change: number) => play.queued.set(whose, (play.queued.get(whose) ?? 0) + change);
  queue(1);
  const turn = (play.turns.get(whose) ?? Promise.resolve()).then(work).finally(() => queue(-1));
  play.turns.set(
    whose,
    turn.catch(() => undefined),
  );
  await turn;
}
