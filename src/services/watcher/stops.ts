import type { PassPace } from '../../chains/pace.ts';
import { type ChainCursor, ReconciliationPass } from '../../db/entities/index.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { ChainPart, ChainStop } from '../../domain/chain-stop.ts';
import { fitted } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';
import { type PassStep, reconcileStep } from '../reconciliation/pass.ts';
import { CursorMoved, readCursor } from './cursor.ts';
import type { WatchedChain } from './watched-chain.ts';

const MAX_REASON = 900;
/** A stop that lasts is logged again after this many tries: with a poll a second, every ten minutes. */
const SAY_AGAIN_AFTER = 600;

/**
 * Runs one part of the watching of a chain. What stops it is kept in the cursor's row and, when
 * it is met again, logged as an error: no block may stop a chain in silence. Throws what the
 * work threw. A cursor that another watcher moved, and a process that stops, are no faults.
 */
export async function orNoteStop<T>(
  deps: Deps,
  at: {
    readonly network: Network;
    readonly part: ChainPart;
    readonly number: number;
    readonly signal: AbortSignal;
  },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (at.signal.aborted || error instanceof CursorMoved) throw error;
    await noteStop(deps, at, error).catch((failed: unknown) =>
      deps.log.debug({ err: failed }, 'a stop could not be noted'),
    );
    throw error;
  }
}

/** Forgets the stops of these parts, once they went on. Costs nothing where none is noted. */
export async function forgetStops(
  deps: Deps,
  cursor: ChainCursor,
  parts: readonly ChainPart[],
): Promise<void> {
  const over = parts.filter((part) => cursor.stops[part] !== undefined);
  if (over.length === 0) return;
  await run(
    deps.orm.em.fork(),
    sql`update chain_cursors set stops = stops - ${over}::text[] where network = ${cursor.network}`,
  );
  deps.log.info({ network: cursor.network, parts: over }, 'what had stopped the chain is over');
}

/**
 * One step of the reconciliation. What stops it is kept in the row
 * of the chain: a comparison that stands still hides what differs.
 */
export async function reconcileNoting(
  deps: Deps,
  chain: WatchedChain,
  pace: PassPace,
  signal: AbortSignal,
): Promise<PassStep> {
  const { network } = chain.reader;
  const round = await deps.orm.em.fork().findOne(ReconciliationPass, network);
  const at = { network, part: 'reconciliation' as const, number: round?.startedNumber ?? 0, signal };
  const step = await orNoteStop(deps, at, () => reconcileStep(deps, chain, pace, signal));
  const cursor = step.did === 'nothing' ? null : await readCursor(deps, network);
  if (cursor) await forgetStops(deps, cursor, ['reconciliation']);
  return step;
}

async function noteStop(
  deps: Deps,
  { network, part, number }: { readonly network: Network; readonly part: ChainPart; readonly number: number },
  error: unknown,
): Promise<void> {
  const { reason, action } = describe(error);
  const stop = {
    number,
    reason: fitted(reason, MAX_REASON),
    action,
    since: deps.now().toISOString(),
    tries: 1,
  };
  const kept = await firstRow(
    deps.orm.em.fork(),
    sql<{ stop: ChainStop }>`update chain_cursors c set stops = c.stops || jsonb_build_object(new.part,
       case when c.stops -> new.part ->> 'number' = new.stop ->> 'number'
         then new.stop || jsonb_build_object('since', c.stops -> new.part -> 'since', 'tries',
           (c.stops -> new.part ->> 'tries')::int + 1)
         else new.stop end)
     from (select ${part}::text as part, ${JSON.stringify(stop)}::jsonb as stop) new
     where c.network = ${network} returning c.stops -> new.part as stop`,
  );
  if (kept && kept.stop.tries % SAY_AGAIN_AFTER === 2)
    deps.log.error(
      { err: error, network, part, block: number, reason: kept.stop.reason, action },
      `the ${part} of a chain stands still`,
    );
}

/** What an operator reads, and what to do next. */
function describe(error: unknown): { reason: string; action: string } {
  const text = error instanceof Error ? error.message : String(error);
  const reason = text.split('\n')[0] ?? '';
  if (error instanceof Error && 'action' in error && typeof error.action === 'string')
    return { reason, action: error.action };
  const action =
    'read the reason; "doctor" tells how the endpoints and PostgreSQL do; it goes on by itself once that is over';
  return { reason, action };
}
