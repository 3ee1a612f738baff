import type { Context } from 'koa';
import { createArrivals } from '../../base/async/arrivals.ts';
import { createFairGate, type FairGate } from '../../base/async/fair-gate.ts';
import { notFound } from '../../services/refusal.ts';
import { withinTime } from '../../services/time-limit.ts';
import { keptDrawing } from '../qr.ts';
import { type Visitor, visitorOf } from '../visitor.ts';
import type { Followed, Shown } from './followed.ts';
import { NoPlace } from './places.ts';

const READ_MS = 1_500;
/** So many single pages are read together, and answered at the same moment; they are drawn one by one. */
const AT_ONCE = 8;
/**
 * After each piece of work the process does others' work for this many times as long, at most for a quarter
 * of a second: however many pages are loaded, and however much changes on them, requests are answered beside.
 */
const REST_SHARE = 3;
const MAX_REST_MS = 250;
/** Longer than a thousand pages take, and shorter than a proxy waits. */
const MAX_WAIT_MS = 50_000;

/**
 * What all pages for payers share in a process: single ones take turns by address, and all together, streams
 * too, have a quarter of its time. `failed` is the reading that failed last.
 */
export type PayerTurns = {
  readonly bySite: FairGate;
  readonly pieces: FairGate;
  failed?: { readonly error: unknown };
};

/** The turns of one process. */
export const createPayerTurns = (): PayerTurns => ({
  bySite: createFairGate({ places: AT_ONCE }),
  pieces: createFairGate({ places: 1, restMs: (tookMs) => Math.min(MAX_REST_MS, tookMs * REST_SHARE) }),
});

/** `siteOf` tells what counts as one address. */
export type TurnOptions = { readonly turns: PayerTurns; readonly siteOf: (ctx: Context) => string };

/** How pages of one kind are drawn, in the turns that all pages of the process share. */
export type Drawing<View extends Shown, Drawn> = {
  /**
   * What `render` makes of the view with a token, which is read after this call. Views that are asked for at
   * once are read together, and drawn once for all visitors who chose the same. Throws the NOT_FOUND Refusal,
   * and what the reading or `render` threw.
   */
  draw(token: string, visitor: Visitor): Promise<Drawn>;
  /** Whether it was thrown because views could not be read. */
  isReadFailure(error: unknown): boolean;
  readonly followed: Followed<View>;
};

/** What draws the pages of one kind for this process, in the turns of all its pages. */
export function createDrawing<View extends Shown, Drawn>(
  followed: Followed<View>,
  turns: PayerTurns,
  render: (view: View, visitor: Visitor) => Drawn,
): Drawing<View, Drawn> {
  const drawings = new WeakMap<View, Map<string, Promise<Drawn>>>();
  const readFailures = new WeakSet<object>();
  const piece = <T>(work: () => Promise<T>): Promise<T> => turns.pieces.run(followed.what, work);
  const arrivals = createArrivals(
    (tokens) => readViews(turns, () => followed.read(tokens)),
    (work) => piece(unlessFailed(turns, work)),
  );
  // The codes first, each in a piece of its own: others' requests wait for one code at most.
  const inPieces = async (view: View, visitor: Visitor): Promise<Drawn> => {
    for (const text of followed.codes(view, visitor.network)) await piece(async () => keptDrawing(text));
    return await piece(async () => render(view, visitor));
  };
  return {
    followed,
    isReadFailure: (error) => readFailures.has(Object(error)),
    draw: async (token, visitor) => {
      const view = await arrivals.ask(token).catch((error: unknown) => {
        readFailures.add(Object(error));
        throw error;
      });
      if (!view) throw notFound(followed.what);
      const made = drawings.get(view) ?? new Map<string, Promise<Drawn>>();
      drawings.set(view, made);
      const choice = JSON.stringify(visitor);
      const drawing = made.get(choice) ?? inPieces(view, visitor);
      made.set(choice, drawing);
      return await drawing;
    },
  };
}

/**
 * Draws what a request asks for, when its address has its turn. Throws as {@link Drawing.draw} does,
 * GateFull where there was no turn in time, NoPlace where the request has ended meanwhile, and the failure
 * of a reading that failed during the wait.
 */
export function drawnInTurn<View extends Shown, Drawn>(
  { followed, draw }: Drawing<View, Drawn>,
  { turns, siteOf }: TurnOptions,
): (ctx: Context, token: string) => Promise<Drawn> {
  return async (ctx, token) => {
    if (!followed.token.test(token)) throw notFound(followed.what);
    const work = async (): Promise<Drawn> => {
      if (ctx.res.closed) throw new NoPlace('not now');
      return await draw(token, visitorOf(ctx));
    };
    return await turns.bySite.run(siteOf(ctx), unlessFailed(turns, work), MAX_WAIT_MS);
  };
}

/** Reads within a limit of its own: whoever asked first may leave, and others wait for it. */
async function readViews<View>(
  turns: PayerTurns,
  read: () => Promise<ReadonlyMap<string, View>>,
): Promise<ReadonlyMap<string, View>> {
  return await withinTime({ limitMs: READ_MS }, read, (late) => late).catch((error: unknown) => {
    turns.failed = { error };
    throw error;
  });
}

/** The work, for its turn; it is not begun where a reading fails between now and then. */
function unlessFailed<T>(turns: PayerTurns, work: () => Promise<T>): () => Promise<T> {
  const before = turns.failed;
  return async () => {
    if (turns.failed && turns.failed !== before) throw turns.failed.error;
    return await work();
  };
}
