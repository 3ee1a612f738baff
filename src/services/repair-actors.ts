import type { ActorMessage } from '../domain/actor-message.ts';
import type { Deps } from './deps.ts';
import type { RepairRun } from './repair.ts';

const PAGE = 500;
const PARALLEL_STARTS = 8;
/** Sorts before every time and id. */
const BEGINNING = { at: '-infinity', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Rows that an index holds in the order of a time and their id. */
type Rows = { readonly from: string; readonly where: string; readonly by: string };

/** Hands the ids of all such rows to `work`, 500 at a time. Each page is a short read of the index, however large the table is. */
export async function eachPage(deps: Deps, { from, where, by }: Rows, work: (ids: string[]) => Promise<void>): Promise<void> {
  for (let after: { at: string; id: string } = BEGINNING; ; ) {
    const rows = await deps.orm.em.fork().execute<{ id: string; at: string }[]>(pageSql({ from, where, by }), [after.at, after.id]);
    await work(rows.map(({ id }) => id));
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    after = last;
  }
}

/** One page of {@link eachPage}, with places for the time and the id after which it begins. */
export function pageSql({ from, where, by }: Rows): string {
  return `select id, ${by}::text as at from ${from} where ${where} and (${by}, id) > (?::timestamptz, ?::uuid) order by ${by}, id limit ${PAGE}`;
}

/** Starts those of these actors that do not run. Where nobody knows which run, all are told: one that runs only looks at its row. */
export async function startMissing(deps: Deps, run: RepairRun, actors: readonly (readonly [string, ActorMessage])[]): Promise<void> {
  const wanted = [...new Map(actors)].filter(([id]) => !run.started.has(id));
  if (wanted.length === 0) return;
  const running = await runningOf(
    deps,
    wanted.map(([id]) => id),
  );
  await inParallel(wanted, async ([id, message]) => {
    if (running.has(id)) return;
    await deps.actors?.start(id, message);
    run.started.add(id);
    run.count();
  });
}

/** Makes one actor look at its row, whatever it does; one that cannot, because it fails or is paused, is replaced by a new one. */
export async function startOrRestart(deps: Deps, run: RepairRun, workflowId: string, message: ActorMessage): Promise<void> {
  const anew = await deps.actors?.hangs(workflowId);
  await deps.actors?.start(workflowId, message, anew ? { anew } : {});
  if (!anew) return;
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

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL_STARTS }, worker));
}
