import type { Deps } from './deps.ts';

/**
 * PostgreSQL's code for a row that another transaction
 * holds, when the statement does not want to wait for it.
 */
const LOCK_NOT_AVAILABLE = '55P03';
const MIN_MS = 250;
const SPREAD_MS = 750;

/**
 * A step never waits in the database for a row that another transaction holds: each that did would keep
 * a connection from all other steps. It comes back a moment later instead, after 250 to 1,000 ms, spread
 * so that those that met do not meet again. Runs `step`, or says that it was busy and with `whose` rows.
 */
export async function unlessBusy<T>(
  deps: Deps,
  whose: { readonly name: string; readonly id: string },
  step: () => Promise<T>,
): Promise<
  T | { readonly kind: 'wait'; readonly reason: string; readonly delayMs: number; readonly stuck: false }
> {
  try {
    return await step();
  } catch (error) {
    if (!isBusy(error)) throw error;
    return {
      kind: 'wait',
      reason: `another transaction holds ${whose.name}`,
      delayMs: pauseMs(deps, whose.id),
      stuck: false,
    };
  }
}

function isBusy(error: unknown): boolean {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 4; inner = inner.cause, depth += 1) {
    if ('code' in inner && inner.code === LOCK_NOT_AVAILABLE) return true;
  }
  return false;
}

/** A different pause each time and for each id. */
function pauseMs(deps: Deps, id: string): number {
  let mixed = deps.now().getTime() % 1_000_003;
  for (let index = 0; index < id.length; index += 1) mixed = (mixed * 31 + id.charCodeAt(index)) % 1_000_003;
  return MIN_MS + (mixed % SPREAD_MS);
}
