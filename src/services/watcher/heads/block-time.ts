import type { BlockRef } from '../../../chains/reader.ts';
import type { ChainCursor } from '../../../db/entities/index.ts';
import { run, sql } from '../../../db/sql.ts';
import { noteOf } from '../../../domain/chain-stop.ts';
import type { Deps } from '../../deps.ts';

/** It is logged at the second block that shows it, and again after this many. */
const SAY_AGAIN_AFTER = 600;

/**
 * Notes in the chain's row how far the time of a new newest block is from ours, where they do not agree;
 * `before` is the cursor before that block was seen, `at` our time then.
 */
export async function noteBlockTime(
  deps: Deps,
  { before, head, at }: { before: ChainCursor; head: BlockRef; at: Date },
): Promise<void> {
  const { network, headNumber, stops } = before;
  const known = stops['block time'];
  if (head.number <= headNumber) return;
  const note = noteOf(known, { number: head.number, aheadMs: at.getTime() - head.timestampMs, at });
  if (!note && !known) return;
  const part = JSON.stringify(note ? { 'block time': note } : {});
  await run(
    deps.orm.em.fork(),
    sql`update chain_cursors set stops = (stops - 'block time') || ${part}::jsonb where network = ${network}`,
  );
  if (note && note.tries % SAY_AGAIN_AFTER === 2)
    deps.log.error(
      { network, block: head.number, reason: note.reason, action: note.action },
      'the clock of this machine is not that of a chain',
    );
}
