// What blocks have shown of transactions that the database took for somebody else's.
import { addressKeyOf } from '../../../chains/addresses.ts';
import type { SentMove } from '../../../db/entities/chain/sent-transaction.ts';
import type { Em } from '../../../db/orm.ts';
import { rows, run, sql } from '../../../db/sql.ts';
import type { Network } from '../../../domain/assets.ts';
import { movesMoney } from '../../../domain/payouts/purpose.ts';
import { NotAdopted, type SignedBytes } from './signed.ts';

/** The place of a transaction in the chain, and its outcome, as the watcher wrote them. */
export type Shown = {
  readonly id: string;
  readonly hash: string;
  readonly blockNumber: string | null;
  readonly blockHash: string | null;
  readonly verifiedAt: string | null;
  readonly ok: boolean | null;
  readonly feeUnits: string | null;
  readonly moves: readonly SentMove[] | null;
};

/**
 * What was noted as foreign of these transactions, by hash and locked. Throws {@link NotAdopted} for a block
 * that was read once only, and for one that shows something else than was signed.
 */
export async function lockShown(
  em: Em,
  network: Network,
  lines: readonly SignedBytes[],
): Promise<ReadonlyMap<string, Shown>> {
  const found = await rows(
    em,
    sql<Shown & { fromKey: string }>`
      select id, hash, from_key, block_number::text as block_number, block_hash, verified_at, ok,
        fee_units::text as fee_units, moves from sent_transactions
      where network = ${network} and hash = any(${lines.map(({ hash }) => hash)}) and purpose is null
      order by id for update`,
  );
  const shown = new Map<string, Shown>();
  for (const line of lines) {
    const one = found.find(({ hash, fromKey }) => hash === line.hash && fromKey === line.from);
    if (!one) continue;
    requireAsSigned(network, line, one);
    shown.set(line.hash, one);
  }
  return shown;
}

function requireAsSigned(network: Network, line: SignedBytes, one: Shown): void {
  if (one.blockHash === null) return;
  if (one.verifiedAt === null)
    throw new NotAdopted(
      `block ${one.blockNumber}, which holds ${line.hash}, was read once only: wait until it is final and was read again ("doctor" says how far the second read is), then run this again`,
    );
  // One that failed has moved nothing, and is known as failed from now on.
  if (one.ok !== true) return;
  const [move, ...others] = one.moves ?? [];
  const moves = movesMoney(line.purpose);
  if (!moves && move === undefined) return;
  const same =
    moves &&
    move !== undefined &&
    others.length === 0 &&
    addressKeyOf(network, move.to) === line.to &&
    move.currency === line.currency &&
    move.units === line.amountUnits.toString();
  if (same) return;
  throw new NotAdopted(
    `block ${one.blockNumber} shows that ${line.hash} moved something else than was signed: compare it with an explorer, and see that the RPC endpoints are right`,
  );
}

/** Forgets the rows that called them foreign; what was written into the audit stays. */
export async function forgetForeign(em: Em, shown: ReadonlyMap<string, Shown>): Promise<void> {
  const ids = [...shown.values()].map(({ id }) => id);
  await run(em, sql`delete from sent_transactions where id = any(${ids}::uuid[]) and purpose is null`);
}
