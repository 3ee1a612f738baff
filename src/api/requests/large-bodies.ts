import type { Context } from 'koa';
import { createFairGate, GateFull } from '../../base/async/fair-gate.ts';
import { noTurn } from '../errors.ts';
import type { Caller } from '../route.ts';

/**
 * More bytes than a resource has with all its metadata; a body that is larger, or does
 * not say its size, waits for a turn to be read.
 */
const LARGE_BODY_BYTES = 32 * 1024;
/** This many large requests are in memory at a time, of all merchants together: 64 MiB of bodies. */
const LARGE_AT_A_TIME = 64;
/** The limit for one merchant in one mode. */
const LARGE_OF_A_MERCHANT = 4;

/** Where requests with large bodies wait. */
export type LargeBodies = {
  /**
   * Runs `work`, which reads the body; with a large body only when the merchant has a turn: four of one mode
   * at a time. Until then the body waits at its sender. When the turn does not come within `maxWaitMs`,
   * throws 429 where the merchant's own were before it, and 503 where those of others were.
   */
  run(ctx: Context, caller: Caller | undefined, maxWaitMs: number, work: () => Promise<void>): Promise<void>;
};

/**
 * The places of one process: a merchant who sends many bodies slowly on purpose fills
 * their own places, and not the memory of all.
 */
export function createLargeBodies(): LargeBodies {
  const gate = createFairGate({ places: LARGE_AT_A_TIME, placesOfKey: LARGE_OF_A_MERCHANT });
  return {
    run: async (ctx, caller, maxWaitMs, work) => {
      if (!caller || !isLarge(ctx)) return await work();
      let begun = false;
      const begin = (): Promise<void> => {
        begun = true;
        return work();
      };
      try {
        // Bodies that a test key never finishes block no live request.
        await gate.run(`${caller.merchantId}:${caller.mode}`, begin, maxWaitMs);
      } catch (error) {
        throw error instanceof GateFull && !begun ? noTurn(error, 'large requests') : error;
      }
    },
  };
}

function isLarge({ headers }: Context): boolean {
  return (
    headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BODY_BYTES
  );
}
