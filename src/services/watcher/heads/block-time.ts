import type { BlockRef } from '../../../chains/reader.ts';
import { ChainCursor } from '../../../db/entities/index.ts';
import { run, sql } from '../../../db/sql.ts';
import { noteOf, wrongClock } from '../../../domain/block-time.ts';
import type { Standstill } from '../../../domain/chain-stop.ts';
import type { Deps } from '../../deps.ts';
import type { WatchedChain } from '../watched-chain.ts';

const SAY_AGAIN_MS = 10 * 60_000;

/**
 * Notes in the chain's row how far the time of a new newest block is from ours, where they do not agree;
 * `before` is the cursor before that block was seen, `at` our time then. Says it in the log as soon as it
 * means that our clock is wrong.
 */
export async function noteBlockTime(
  deps: Deps,
  { chain, before, head, at }: { chain: WatchedChain; before: ChainCursor; head: BlockRef; at: Date },
): Promise<void> {
  if (head.number <= before.headNumber) return;
  const { network } = before;
  const aheadMs = at.getTime() - head.timestampMs;
  const known = before.stops['block time'];
  const note = noteOf(known, { number: head.number, aheadMs, at });
  if (!note && !known) return;
  await run(
    deps.orm.em.fork(),
    sql`update chain_cursors set stops = (stops - 'block time') || ${JSON.stringify(note ? { 'block time': note } : {})}::jsonb
     where network = ${network}`,
  );
  if (!note) return;
  const wrong = wrongClocks(await deps.orm.em.fork().find(ChainCursor, {}), at);
  const told = wrong.find((one) => one.network === network);
  if (!told || at.getTime() - (chain.clockSaidAt?.getTime() ?? 0) < SAY_AGAIN_MS) return;
  chain.clockSaidAt = at;
  const { reason, action } = told;
  deps.log.error({ network, block: head.number, reason, action }, 'the clock of this machine may be wrong');
}

/** {@link wrongClock} by the rows of all chains. */
export function wrongClocks(cursors: readonly ChainCursor[], now: Date): Standstill[] {
  return wrongClock(
    cursors.map(({ network, stops, movedAt }) => ({ network, stop: stops['block time'], movedAt })),
    now,
  );
}
