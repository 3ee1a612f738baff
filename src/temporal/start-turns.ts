import { createFairGate } from '../base/async/fair-gate.ts';
import type { ActorMessage } from '../domain/actor-message.ts';

/**
 * More at a time make no start faster, and a rush of one merchant would stand before everybody's next one.
 */
const STARTS_AT_A_TIME = 16;
/** Each start is work for the whole server: what can wait may not fill it. */
const TEST_STARTS_AT_A_TIME = 2;
/**
 * A start is about a tenth of what an actor costs the server, and takes longer the more
 * the server has to do. A place of test mode that rests for as long as the remaining nine
 * tenths would take lets a server that is quick start many and one that is busy few;
 * without it the actors that were started already would crowd every step of a live one.
 */
const REST_OF_A_TEST_START = 8;
const MAX_REST_MS = 1_000;

export type StartTurns = (
  message: ActorMessage,
  start: () => Promise<void>,
  maxWaitMs?: number,
) => Promise<void>;

/**
 * Runs starts of actors in turn by merchant; those of test mode have a gate of their own
 * before the one of all, and their places rest after each start in proportion to how long it
 * took. Whoever asked is answered as soon as the start is done. Throws `GateFull` without
 * having begun where the turn does not come within `maxWaitMs`, else what `start` throws.
 */
export function createStartTurns(): StartTurns {
  const all = createFairGate({ places: STARTS_AT_A_TIME });
  const restMs = (tookMs: number): number => Math.min(REST_OF_A_TEST_START * tookMs, MAX_REST_MS);
  const tests = createFairGate({ places: TEST_STARTS_AT_A_TIME, restMs });
  return async (message, start, maxWaitMs) => {
    const key = message.owner?.merchantId ?? '';
    const inTurn = () => all.run(key, start, maxWaitMs);
    if (message.owner?.mode === 'test') await tests.run(key, inTurn, maxWaitMs);
    else await inTurn();
  };
}
