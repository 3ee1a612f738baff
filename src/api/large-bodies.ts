import type { Context } from 'koa';
import { createFairGate, GateFull } from '../services/fair-gate.ts';
import { ApiError, unavailable } from './errors.ts';

/** More than a resource with all its metadata; what is larger, or does not say its size, is read in turn. In bytes. */
const LARGE_BODY_BYTES = 32 * 1024;
/** So many large requests are in memory at a time, of all merchants: 64 MiB of bodies. */
const LARGE_AT_A_TIME = 64;
const LARGE_OF_A_MERCHANT = 4;

/** Where requests with large bodies wait. */
export type LargeBodies = {
  /**
   * Runs `work`, which takes the body from the wire; with a large body when the merchant has a turn: four of one at a time. Until then the
   * body waits with its sender. When the turn does not come within `maxWaitMs`, throws 429 where the merchant's own were before it, and 503
   * where those of others were.
   */
  run(ctx: Context, merchantId: string | undefined, maxWaitMs: number, work: () => Promise<void>): Promise<void>;
};

/** The places of one process: whoever sends many bodies slowly on purpose fills his own, and not the memory of all. */
export function createLargeBodies(): LargeBodies {
  const gate = createFairGate({ places: LARGE_AT_A_TIME, placesOfKey: LARGE_OF_A_MERCHANT });
  return {
    run: async (ctx, merchantId, maxWaitMs, work) => {
      if (merchantId === undefined || !isLarge(ctx)) return await work();
      let begun = false;
      const begin = (): Promise<void> => {
        begun = true;
        return work();
      };
      try {
        await gate.run(merchantId, begin, maxWaitMs);
      } catch (error) {
        throw error instanceof GateFull && !begun ? tooMany(error) : error;
      }
    },
  };
}

function tooMany(error: GateFull): ApiError {
  if (!error.behindOwn) return unavailable(error, 'Too many large requests are being read at the moment. Try again in a few seconds.');
  const sentence = 'Too many large requests at the same time. Send one after the other, and try again in a few seconds.';
  return new ApiError('RATE_LIMITED', sentence, { headers: { 'Retry-After': '2' }, cause: error });
}

function isLarge({ headers }: Context): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LARGE_BODY_BYTES;
}
