import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { recordAction } from '../audit/record.ts';
import type { Deps } from '../deps.ts';
import { Refusal } from '../refusal.ts';

/** Where the numbering of customers' addresses stands. */
export type WalletIndexes = {
  /** What the next customer gets. */
  readonly next: number;
  /** The highest one that a customer has; 0 where there is none. */
  readonly highest: number;
};

/** A wallet has 2^31 addresses; the sequence ends before them. */
const LAST_INDEX = 2_147_483_646;

/** Which index is given next, and the highest that was given as far as this database knows. */
export async function readWalletIndexes(em: Em): Promise<WalletIndexes> {
  const row = await firstRow(
    em,
    sql<{ next: number; highest: number }>`select (last_value + is_called::int)::int as next,
      (select coalesce(max(wallet_index), 0) from customers)::int as highest from wallet_index_seq`,
  );
  if (!row) throw new Error('the sequence of wallet indexes has no row');
  return row;
}

/**
 * Skips indexes, so that the next customer gets one that is more than `gap` above the highest known: after a
 * restore, addresses were given away that this database has forgotten, and an address is never given to two
 * customers. It only ever goes forward, and customers may be made meanwhile. Does nothing where the next one
 * is that high already. Throws a `Refusal` where the wallet has not as many left.
 */
export async function advanceWalletIndexes(
  deps: Deps,
  { gap, reason }: { readonly gap: number; readonly reason: string },
): Promise<{ readonly before: WalletIndexes; readonly after: WalletIndexes }> {
  return await deps.orm.em.fork().transactional(async (em) => {
    const before = await readWalletIndexes(em);
    const missing = before.highest + gap + 1 - before.next;
    if (missing <= 0) return { before, after: before };
    if (before.next + missing > LAST_INDEX)
      throw new Refusal('INVALID', `The wallet has no ${gap} indexes left above ${before.highest}.`);
    // The service's role may draw from the sequence and not set it, which also means: never back.
    await run(em, sql`select max(nextval('wallet_index_seq')) from generate_series(1, ${missing}::int)`);
    const after = await readWalletIndexes(em);
    await recordAction(em, deps, {
      action: 'wallet.skip-indexes',
      subject: 'wallet indexes',
      before: { next: before.next },
      after: { next: after.next },
      reason,
    });
    return { before, after };
  });
}
