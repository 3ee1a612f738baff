import { z } from 'zod';
import { createFairGate, GateFull } from '../../base/async/fair-gate.ts';
import type { Deps } from '../../services/deps.ts';
import { noTurn } from '../errors.ts';
import type { Route } from '../route.ts';

/**
 * This many lists are read at a time, of all merchants together: no more than there are connections for them.
 */
export const LISTS_AT_A_TIME = 6;
const LISTS_OF_A_MERCHANT = 3;
/**
 * While more lists of a merchant wait, the place of an expensive one stays empty in proportion to how
 * expensive it was: three at a time without a pause fill the processors, and every caller that asks for a
 * single row waits for all of them. A page by an index is not expensive.
 */
const DEAR_MS = 15;
const REST_OF_A_DEAR_LIST = 10;
const MAX_REST_MS = 500;

/**
 * The part of a request's time that is kept for reading the list: the wait for a turn ends this much earlier.
 */
const TIME_TO_READ_MS = 100;

/** Where lists are read. */
export type ListDoor = {
  /**
   * Runs `work` with the connections for lists when its merchant has a turn: three lists of one
   * merchant at a time, with pauses after expensive ones while more of them wait, merchants in
   * turn. When the turn does not come within `maxWaitMs`, throws 429 where the merchant's own lists
   * were before it, and 503 where those of others were.
   */
  run<T>(merchantId: string, maxWaitMs: number, work: (deps: Deps) => Promise<T>): Promise<T>;
};

/**
 * The door of one process. `orm` holds the connections that lists have for themselves;
 * without it they use those of everything else.
 */
export function createListDoor(deps: Deps, orm: Deps['orm'] = deps.orm): ListDoor {
  const restMs = (tookMs: number, waiting: number): number =>
    waiting > 0 ? Math.min(MAX_REST_MS, REST_OF_A_DEAR_LIST * Math.max(0, tookMs - DEAR_MS)) : 0;
  const gate = createFairGate({ places: LISTS_AT_A_TIME, placesOfKey: LISTS_OF_A_MERCHANT, restMs });
  const ofLists = { ...deps, orm };
  return {
    run: (merchantId, maxWaitMs, work) =>
      gate
        .run(merchantId, () => work(ofLists), Math.max(0, maxWaitMs - TIME_TO_READ_MS))
        .catch((error: unknown) => {
          throw error instanceof GateFull ? noTurn(error, 'lists') : error;
        }),
  };
}

/** Whether a route answers with one page of many rows: its query says where in them. */
export function isList({ query }: Route): boolean {
  return query instanceof z.ZodObject && 'starting_after' in query.shape;
}
