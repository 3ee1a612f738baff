import { createFairGate } from '../base/async/fair-gate.ts';
import type { ActorMessage } from '../domain/actor-message.ts';

/**
 * More starts at a time make none of them faster, and a rush of one merchant
 * would delay the next start of every other.
 */
const STARTS_AT_A_TIME = 16;
/** Each start is work for the whole server: starts that can wait must not fill it. */
const TEST_STARTS_AT_A_TIME = 2;
/**
 * A start is about a tenth of what an actor costs the server, and takes longer the more the server
 * has to do. A place of test mode stays empty for as long as the other nine tenths would take: so a
 * server that is quick starts many and one that is busy few. Without this the actors that were
 * already started would delay every step of a live one.
 */
const REST_OF_A_TEST_START = 8;
const MAX_REST_MS = 1_000;

export type StartTurns = (
  message: ActorMessage,
  start: () => Promise<void>,
  maxWaitMs?: number,
) => Promise<void>;

/**
 * Runs starts of actors in turn by merchant. Those of test mode pass a gate of their own before the
 * gate of all, and their places stay empty after each start in proportion to how long it took. The
 * caller is answered as soon as the start is done. Throws `GateFull` without having begun where the
 * turn does not come within `maxWaitMs`, else what `start` throws.
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
