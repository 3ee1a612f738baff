// After a restore of the database payouts are held until everything that happened since the backup is known
// again: what the signer's journal has, and what the chains show.
import { ChainCursor, Restore } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { writeDecision } from '../payouts/decisions.ts';

export type RestoreOrder = { readonly backupAt: Date; readonly reason: string };

/**
 * Notes that this database was restored, and pauses all payouts, in the caller's transaction. A restore that
 * the backup itself knew of is over: this one takes its place. It is dated behind all that the backup tells
 * of signer and chains, by the later one of this host's clock and the database's, so that none of that counts
 * as seen since: by a whole millisecond, because who compares with it as a Date has no more.
 */
export async function holdAfterRestore(
  em: Em,
  deps: Pick<Deps, 'actor' | 'now' | 'newId'>,
  { backupAt, reason }: RestoreOrder,
): Promise<void> {
  const now = deps.now();
  await run(em, sql`update restores set over_at = greatest(${now}, restored_at) where over_at is null`);
  const byName = await writeDecision(em, deps, { kind: 'pause', merchantId: null, place: null, reason });
  await run(
    em,
    sql`insert into restores (id, backup_at, restored_at, by_name, reason)
      values (${deps.newId()}, ${backupAt},
        date_trunc('milliseconds', greatest(${now}::timestamptz, clock_timestamp(), ${backupAt},
          (select max(seen_at) from signer_state), (select max(polled_at) from chain_cursors)))
          + interval '1 millisecond',
        ${byName}, ${reason})`,
  );
  await recordAction(em, deps, {
    action: 'restore',
    subject: 'database',
    after: { backup_at: backupAt.toISOString(), payouts_paused: true },
    reason,
  });
}

/** The restore after which payouts are still held; undefined where there is none. */
export async function openRestore(em: Em): Promise<Restore | undefined> {
  const [newest] = await em.find(Restore, { overAt: null }, { orderBy: { restoredAt: 'desc' }, limit: 1 });
  return newest;
}

/**
 * Notes for each chain the head that its watcher saw first after the restore. Whatever was sent before the
 * database was lost lies below it or was never mined; one statement a turn where nothing was restored.
 */
export async function noteRestoreGoals(deps: Pick<Deps, 'orm'>): Promise<void> {
  const em = deps.orm.em.fork();
  const open = await openRestore(em);
  if (!open) return;
  const cursors = await em.find(ChainCursor, { polledAt: { $gt: open.restoredAt } });
  for (const { network, headNumber } of cursors.filter((cursor) => open.goals[cursor.network] === undefined))
    await run(
      em,
      sql`update restores set goals = jsonb_set(goals, array[${network}], to_jsonb(${headNumber}::bigint))
        where id = ${open.id} and not goals ? ${network}`,
    );
}

/** What is still unknown since the restore, in the order in which it has to come. */
export async function unknownSinceRestore(
  em: Em,
  watchedNetworks: readonly Network[],
  restore: Pick<Restore, 'restoredAt' | 'goals'>,
): Promise<readonly string[]> {
  const [signer, chains, foreign] = [
    await signerUnknown(em, restore),
    await chainsUnknown(em, watchedNetworks, restore),
    await foreignUnknown(em),
  ];
  return [...signer, ...chains, ...foreign];
}

async function signerUnknown(em: Em, { restoredAt }: Pick<Restore, 'restoredAt'>): Promise<string[]> {
  const row = await firstRow(
    em,
    sql<{ seen: boolean; sealed: string | null }>`select seen_at > ${restoredAt} as seen,
      sealed_reason as sealed from signer_state`,
  );
  if (!row?.seen)
    return [
      'the signer has not taken the restored database over: start it, with the newest copy of its journal',
    ];
  return row.sealed === null ? [] : [`the signer signs nothing: ${row.sealed}`];
}

async function chainsUnknown(
  em: Em,
  watched: readonly Network[],
  { goals, restoredAt }: Pick<Restore, 'restoredAt' | 'goals'>,
): Promise<string[]> {
  const cursors = await em.find(ChainCursor, { network: { $in: [...watched] } });
  // An endpoint that is behind shows a head from before the loss. What a block says of its time tells.
  const since = await rows(
    em,
    sql<{ network: string }>`select c.network from chain_cursors c
      join chain_blocks b on b.network = c.network and b.number = c.verified_number
      where b.mined_at > ${restoredAt}`,
  );
  const isSince = new Set(since.map(({ network }) => network));
  return watched.flatMap((network) => {
    const goal = goals[network];
    const reached = cursors.find((cursor) => cursor.network === network)?.verifiedNumber ?? 0;
    if (goal === undefined)
      return [`no worker has looked at ${network} since the restore: start the workers`];
    if (reached >= goal && !isSince.has(network))
      return [
        `${network} is read twice up to block ${reached}, which was mined before the restore: wait for the workers`,
      ];
    if (reached >= goal) return [];
    return [
      `${network} is read twice up to block ${reached}, and was at ${goal} after the restore: wait for the workers`,
    ];
  });
}

async function foreignUnknown(em: Em): Promise<string[]> {
  const found = await rows(
    em,
    sql<{ network: string; hash: string }>`select network, hash from sent_transactions
      where state = 'foreign' and decided_at is null order by created_at, id limit 1000`,
  );
  const [first] = found;
  if (!first) return [];
  const others = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  return [
    `${first.hash} on ${first.network}${others} was sent by our wallets, and the database does not know it: "payout conclude" with --journal, then "deposit stuck" for the next`,
  ];
}

/** Ends the hold, beside the decision that lets payouts go on. */
export async function endHold(em: Em, { now }: Pick<Deps, 'now'>): Promise<void> {
  await run(em, sql`update restores set over_at = greatest(${now()}, restored_at) where over_at is null`);
}
