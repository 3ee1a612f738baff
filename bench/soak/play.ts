import { setTimeout as sleep } from 'node:timers/promises';
import type { Customer, Simulated } from './judge/records.ts';
import type { Stage } from './stage.ts';

/** What happened, for the report. The judge reads of it only what the gateway confirmed or refused. */
export type Done = {
  readonly counts: Map<string, number>;
  /** Things that must not happen whatever is down: the API refusing something sound, say. */
  readonly problems: string[];
  /** Simulations that the API confirmed. */
  readonly simulated: Simulated[];
  /** Transactions that the run itself sent out of one of the gateway's wallets. */
  readonly spent: string[];
  readonly log: string[];
};

/** What the actions of one run share. */
export type Play = {
  readonly stage: Stage;
  readonly done: Done;
  readonly beganMs: number;
  /** Customers by the number of the plan, also those who are only being made. */
  readonly customers: Map<number, PromiseWithResolvers<Customer>>;
  /** What one at a time has a turn for, by name: the last of those who wait, and how many there are. */
  readonly turns: Map<string, { last: Promise<void>; queued: number }>;
};

const CUSTOMER_WITHIN_MS = 130_000;
const LOOK_EVERY_MS = 150;

/** Begins a run over a stage that stands. */
export function beginPlay(stage: Stage): Play {
  const done: Done = { counts: new Map(), problems: [], simulated: [], spent: [], log: [] };
  return { stage, done, beganMs: Date.now(), customers: new Map(), turns: new Map() };
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
export async function inTurn({ turns }: Play, whose: string, work: () => Promise<void>): Promise<void> {
  const turn = turns.get(whose) ?? { last: Promise.resolve(), queued: 0 };
  turns.set(whose, turn);
  turn.queued += 1;
  const own = turn.last.then(work).finally(() => {
    turn.queued -= 1;
  });
  turn.last = own.catch(() => undefined);
  await own;
}

/** Whether it became true in time. */
export async function until(limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const endMs = Date.now() + limitMs;
  while (Date.now() < endMs) {
    if (await holds()) return true;
    await sleep(LOOK_EVERY_MS);
  }
  return false;
}
