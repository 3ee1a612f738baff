import { ChainCursor } from '../../db/entities/index.ts';
import { firstRow, sql } from '../../db/sql.ts';
import type { Standstill } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';

/** Longer than a worker takes from its start to its first poll. */
const READ_WITHIN_MS = 30_000;

/**
 * A chain whose newest block has been the same for too long, although it is read:
 * its RPC endpoints stand still, so nobody sees what is paid. Undefined when the
 * chain may stand still without an alarm, as a local one for development does.
 */
export function unmovedHead(
  deps: Pick<Deps, 'now' | 'settings'>,
  cursor: ChainCursor,
): Standstill | undefined {
  const { headMovesWithinMs } = deps.settings;
  const sinceMs = deps.now().getTime() - cursor.movedAt.getTime();
  if (headMovesWithinMs === undefined || sinceMs < headMovesWithinMs) return undefined;
  const reason = `its endpoints show no block after ${cursor.headNumber}`;
  const action =
    'add an RPC endpoint that is in sync and restart the worker; "doctor" tells how old the newest block is';
  return {
    network: cursor.network,
    part: 'first read',
    number: cursor.scannedNumber,
    sinceMs,
    reason,
    action,
  };
}

/**
 * The chains that should be watched and were never read once, either since workers run over this
 * database or since somebody was given an address to pay to. A fresh installation has neither.
 */
export async function neverRead(deps: Deps): Promise<Standstill[]> {
  const found: Standstill[] = [];
  const cursors = await deps.orm.em.fork().find(ChainCursor, {});
  for (const network of deps.settings.payments.watchedNetworks) {
    if (cursors.some((cursor) => cursor.network === network)) continue;
    const row = await firstRow(
      deps.orm.em.fork(),
      sql<{ at: string | null }>`select least((select min(known_since) from loop_runs),
         (select created_at from deposit_addresses where network = ${network} and mode = 'live'
           order by created_xid limit 1))::text as at`,
    );
    const sinceMs = row?.at ? deps.now().getTime() - new Date(row.at).getTime() : 0;
    if (sinceMs < READ_WITHIN_MS) continue;
    const reason = 'it was never read: no worker watches it, or no RPC endpoint answers';
    const action =
      'start a worker with the same settings, and see what "doctor" and its log say of the endpoints';
    found.push({ network, part: 'first read', number: 0, sinceMs, reason, action });
  }
  return found;
}
