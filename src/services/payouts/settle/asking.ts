// How many steps of payouts ask endpoints at the same time in a process, and whose turn it is.
import { createFairGate, GateFull } from '../../../base/async/fair-gate.ts';

/** It is not its turn; nothing was done. Who comes again after `delayMs` is expected. */
export class Crowded extends Error {
  override readonly name = 'Crowded';
  readonly delayMs: number;

  constructor(delayMs: number) {
    super('other addresses are asked about by this worker, and this one when its turn is');
    this.delayMs = delayMs;
  }
}

/** The place of one step: `enter` waits for it and may throw {@link Crowded}; it is kept until `end`. */
export type Turn = { enter(): Promise<void>; end(): void };
/** Makes the turn of a step of this merchant. */
export type Asks = (merchantOf: () => Promise<string>) => Turn;

/** A step waits so long at most, in a place that deposits have no use of meanwhile. */
export const IN_LINE_MS = 5_000;
const IN_LINE = 4;
const FIRST_TOOK_MS = 1_000;
/** One step in so many moves what is believed that a step takes. */
const SLOWLY = 8;

/**
 * The places of one process: endpoints that hang keep each for half a minute, and steps that only read rows
 * take none. A few wait in the process, their merchants in turn; the others of a merchant are told to come
 * one after the other, as fast as steps end and its share of the places allows.
 */
export function createAsks(places: number, nowMs = () => performance.now()): Asks {
  const gate = createFairGate({ places, maxWaiting: IN_LINE });
  /** When the last one of each merchant comes that was told to. */
  const last = new Map<string, number>();
  let tookMs = FIRST_TOOK_MS;

  const told = (merchant: string): Crowded => {
    const now = nowMs();
    for (const [one, at] of last) if (at <= now) last.delete(one);
    const before = last.get(merchant) ?? now;
    last.set(merchant, before);
    last.set(merchant, before + (tookMs / places) * last.size);
    return new Crowded((last.get(merchant) ?? now) - now);
  };
  const entered = (merchant: string): Promise<() => void> =>
    new Promise((resolve, reject) => {
      const held = () => new Promise<void>((done) => resolve(done));
      gate
        .run(merchant, held, IN_LINE_MS)
        .catch((error: unknown) => reject(error instanceof GateFull ? told(merchant) : error));
    });

  return (merchantOf) => {
    let [leave, beganMs]: [(() => void) | undefined, number] = [undefined, 0];
    return {
      enter: async () => {
        leave ??= await entered(await merchantOf());
        beganMs ||= nowMs();
      },
      end: () => {
        if (leave) tookMs += (nowMs() - beganMs - tookMs) / SLOWLY;
        leave?.();
      },
    };
  };
}

/** Does what asks endpoints, when it is the step's turn. Throws {@link Crowded} where it is not. */
export async function asking<T>(
  { turn }: { readonly turn?: Turn | undefined },
  work: () => Promise<T>,
): Promise<T> {
  await turn?.enter();
  return await work();
}
