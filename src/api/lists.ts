import { z } from 'zod';
import type { Deps } from '../services/deps.ts';
import { createFairGate, GateFull } from '../services/fair-gate.ts';
import { unavailable } from './errors.ts';
import type { Route } from './route.ts';

/** So many lists are read at a time, of all merchants: no more than there are connections for them. */
export const LISTS_AT_A_TIME = 6;
const LISTS_OF_A_MERCHANT = 3;
/**
 * A merchant with a line of lists before the door has them read one after the other, with a pause of half of what each took: more at a
 * time fill the processors, and whoever asks for a single row would wait for all of them.
 */
const LISTS_OF_A_LINE = 1;
const REST_IN_A_LINE = 0.5;

/** Where lists are read. */
export type ListDoor = {
  /**
   * Runs `work` with the connections for lists when its merchant has a turn: three lists of one at a time, one after the other while more of them wait,
   * merchants in turn. Throws 503
   * when the turn does not come within `maxWaitMs`.
   */
  run<T>(merchantId: string, maxWaitMs: number, work: (deps: Deps) => Promise<T>): Promise<T>;
};

/** The door of one process. `orm` holds the connections that lists have for themselves; those of everything else where absent. */
export function createListDoor(deps: Deps, orm: Deps['orm'] = deps.orm): ListDoor {
  const gate = createFairGate({
    ...{ places: LISTS_AT_A_TIME, placesOfKey: LISTS_OF_A_MERCHANT, placesOfLine: LISTS_OF_A_LINE },
    restMs: (tookMs, waiting) => (waiting > 0 ? REST_IN_A_LINE * tookMs : 0),
  });
  const ofLists = { ...deps, orm };
  return {
    run: (merchantId, maxWaitMs, work) =>
      gate
        .run(merchantId, () => work(ofLists), maxWaitMs)
        .catch((error: unknown) => {
          if (error instanceof GateFull)
            throw unavailable(error, 'Too many lists are being read at the moment. Try again in a few seconds.');
          throw error;
        }),
  };
}

/** Whether a route answers with one page of many rows: its query says where in them. */
export function isList({ query }: Route): boolean {
  return query instanceof z.ZodObject && 'starting_after' in query.shape;
}
