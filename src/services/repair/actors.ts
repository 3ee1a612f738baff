import { rows as rowsOf, type Statement, sql } from '../../db/sql.ts';
import type { ActorMessage } from '../../domain/actor-message.ts';
import { ActorRefused, type Deps } from '../deps.ts';

const PAGE = 500;
const PARALLEL_STARTS = 8;
/**
 * After this many calls in a row that Temporal neither answered nor
 * refused, it counts as unreachable, and the rest waits for the next run.
 */
const UNRESPONSIVE_AFTER = 2 * PARALLEL_STARTS;
/**
 * This many rows of each kind that should have moved are looked at in one turn
 * of a loop; a backlog of slow receivers is no reason to ask Temporal for all.
 */
const LOOKED_AT_IN_A_TURN = 1_000;
/** Sorts before every time and id. */
const BEGINNING = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Rows that an index holds in the order of a time and their id. */
type Rows = { readonly from: string; readonly where: Statement<unknown>; readonly by: string };
type Place = { readonly at: string; readonly id: string };

/** What one repair has done so far, and how far it goes. */
export type RepairRun = {
  /** The actors that this run started, so that none is started twice. */
  readonly started: Set<string>;
  readonly count: () => void;
  /** Actors that could neither be started nor be told. */
  readonly failed: { readonly workflowId: string; readonly reason: string }[];
  /** How many rows of a kind that should have moved are looked at. */
  readonly lookAtMost: number;
  /** By kind, the row at which the previous run stopped. */
  readonly places: Map<string, Place>;
};

/** A run over everything, as an operator wants it. */
export function wholeRun(): RepairRun {
  return {
    started: new Set(),
    count: () => undefined,
    failed: [],
    lookAtMost: Number.POSITIVE_INFINITY,
    places: new Map(),
  };
}

/**
 * A turn of a loop: looks at a bounded number of rows that should
 * have moved, and goes on where the previous turn stopped.
 */
export function turnOf(places: RepairRun['places']): RepairRun {
  return { ...wholeRun(), lookAtMost: LOOKED_AT_IN_A_TURN, places };
}

/** An actor, and what makes it look at its row or starts it. */
export type Wake = readonly [workflowId: string, message: ActorMessage];

/** Rows of one kind that have actors. */
export type Actors = Rows & {
  readonly kind: string;
  /** The column that says when a row should have moved, where that is not `by`. */
  readonly due?: string;
  /** A row that should have moved for this long is looked at, whether its actor runs or not. */
  readonly standsMs: number;
  readonly wakesOf: (ids: string[]) => Promise<readonly Wake[]>;
  /** The same of those that could move, where the time alone does not say it. */
  readonly dueOf?: (ids: string[]) => Promise<readonly Wake[]>;
};

/** Starts the actors of these rows that do not run, and has those look that stand; returns how many stood. */
export async function repairRows(deps: Deps, run: RepairRun, all: Actors): Promise<number> {
  const { kind, from, where, by, due = by, standsMs, wakesOf, dueOf = wakesOf } = all;
  await eachPage(deps, { from, where, by }, async (ids) => startMissing(deps, run, await wakesOf(ids)));
  const before = new Date(deps.now().getTime() - standsMs);
  return await lookAgain(deps, run, { kind, before, from, where, by: due }, dueOf);
}

/**
 * Hands the ids of all such rows to `work`, 500 at a time. Each
 * page is a short read of the index, however large the table is.
 */
async function eachPage(deps: Deps, rows: Rows, work: (ids: string[]) => Promise<void>): Promise<void> {
  for (let after: Place = BEGINNING; ; ) {
    const page = await rowsOf(deps.orm.em.fork(), pageSql(rows, after));
    await work(page.map(({ id }) => id));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return;
    after = last;
  }
}

/** One page of {@link eachPage}, behind `after` and, if `until` is given, up to that time. */
export function pageSql({ from, where, by }: Rows, after: Place, until?: Date): Statement<Place> {
  const time = sql.ref(by);
  const end = until ? sql`and ${time} <= ${until}` : sql``;
  return sql`select id, ${time}::text as at from ${sql.table(from)}
    where ${where} and (${time}, id) > (${after.at}::timestamptz, ${after.id}::uuid) ${end}
      order by ${time}, id limit ${PAGE}`;
}

/**
 * Makes the actors of rows that should have moved by `before` look at them, or replaces those that
 * cannot. A run that may not look at all of them goes on behind the row at which the previous one
 * stopped, so that none is left out for ever. `wakesOf` says which of the rows need it.
 */
export async function lookAgain(
  deps: Deps,
  run: RepairRun,
  { kind, before, ...rows }: Rows & { readonly kind: string; readonly before: Date },
  wakesOf: (ids: string[]) => Promise<readonly Wake[]>,
): Promise<number> {
  let looked = 0;
  for (let after = run.places.get(kind) ?? BEGINNING; ; ) {
    const page = await rowsOf(deps.orm.em.fork(), pageSql(rows, after, before));
    const wakes = page.length === 0 ? [] : await wakesOf(page.map(({ id }) => id));
    after = page.length < PAGE ? BEGINNING : (page.at(-1) ?? BEGINNING);
    // Noted before it is tried, so that not every turn begins with the same page of actors that never answer.
    run.places.set(kind, after);
    await each(
      run,
      wakes.filter(([id]) => !run.started.has(id)),
      (wake) => startOrRestart(deps, run, wake),
    );
    looked += wakes.length;
    if (after === BEGINNING || looked >= run.lookAtMost) return looked;
  }
}

/**
 * Starts those of these actors that do not run. If it is unknown which
 * of them run, all are told: one that runs only looks at its row.
 */
export async function startMissing(deps: Deps, run: RepairRun, actors: readonly Wake[]): Promise<void> {
  const wanted = [...new Map(actors)].filter(([id]) => !run.started.has(id));
  if (wanted.length === 0) return;
  const running = await runningOf(
    deps,
    wanted.map(([id]) => id),
  );
  await each(
    run,
    wanted.filter(([id]) => !running.has(id)),
    async ([id, message]) => {
      await deps.actors?.start(id, message);
      run.started.add(id);
      run.count();
    },
  );
}

/** Throws if an actor could neither be started nor be told: the others of the run were. */
export function throwFailed({ failed }: RepairRun): void {
  const [first] = failed;
  if (first)
    throw new Error(
      `${failed.length} actors could not be started, the first ${first.workflowId}: ${first.reason}`,
    );
}

/**
 * Makes one actor look at its row, whatever it is doing; one that
 * cannot, because it fails or is paused, is replaced by a new one.
 */
async function startOrRestart(deps: Deps, run: RepairRun, [workflowId, message]: Wake): Promise<void> {
  const replace = await deps.actors?.isUnresponsive(workflowId);
  await deps.actors?.start(workflowId, message, replace ? { replace } : {});
  if (!replace) return;
  deps.log.warn({ workflowId }, 'an actor that could not go on was replaced by a new one');
  run.started.add(workflowId);
  run.count();
}

async function runningOf(deps: Deps, ids: readonly string[]): Promise<ReadonlySet<string>> {
  try {
    return (await deps.actors?.running(ids)) ?? new Set();
  } catch (error) {
    deps.log.warn({ err: error }, 'which actors run cannot be asked; each is told to look at its row');
    return new Set();
  }
}

/**
 * Does the work for each, a few at a time. One that fails
 * holds up no other; throws when Temporal does not answer.
 */
async function each(
  run: RepairRun,
  wakes: readonly Wake[],
  work: (wake: Wake) => Promise<void>,
): Promise<void> {
  const queue = [...wakes];
  let unanswered = 0;
  const worker = async (): Promise<void> => {
    for (let wake = queue.shift(); wake !== undefined; wake = queue.shift()) {
      try {
        await work(wake);
        unanswered = 0;
      } catch (error) {
        run.failed.push({
          workflowId: wake[0],
          reason: error instanceof Error ? error.message : String(error),
        });
        if (!(error instanceof ActorRefused)) unanswered += 1;
        if (unanswered >= UNRESPONSIVE_AFTER) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL_STARTS }, worker));
}
