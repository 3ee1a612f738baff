import type { ScannedBlock } from '../../chain/port.ts';
import type { Em } from '../../db/orm.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { withdrawHeld } from '../deposits/held.ts';
import type { Deps } from '../deps.ts';
import { addressKeyOf } from './address-key.ts';
import { forgetAbsent } from './unrecognised.ts';

type BoundDeposit = { id: string; transaction_hash: string; address_key: string; currency: string; block_hash: string };

/**
 * Marks the deposits of a final block that its second read holds, and unbinds those that it does not hold, each in one statement. Returns
 * how many were unbound. What was set aside and is not in it is forgotten.
 */
export async function markVerified(em: Em, deps: Deps, network: Network, block: ScannedBlock): Promise<number> {
  const bound = await em.execute<BoundDeposit[]>(
    `select id, transaction_hash, address_key, currency, block_hash from deposits where network = ? and mode = 'live' and block_number = ? and block_hash is not null`,
    [network, block.number],
  );
  const held = new Set(block.transfers.map((transfer) => `${transfer.txHash}:${addressKeyOf(transfer.to)}:${transfer.currency}`));
  const isHeld = (row: BoundDeposit): boolean =>
    held.has(`${row.transaction_hash}:${row.address_key}:${row.currency}`) || maySimplyNotShow(block, network, row);
  const [there, gone] = [bound.filter(isHeld), bound.filter((row) => !isHeld(row))];
  const now = deps.now();
  if (there.length > 0) {
    await em.execute(
      `update deposits set verified_at = ? where id = any(string_to_array(?, ',')::uuid[]) and block_hash = ? and verified_at is null`,
      [now, idsOf(there), block.hash],
    );
  }
  if (gone.length > 0) await unbind(em, deps, block, gone);
  await forgetAbsent(em, deps, network, block);
  return gone.length;
}

async function unbind(em: Em, deps: Deps, block: ScannedBlock, gone: readonly BoundDeposit[]): Promise<void> {
  await em.execute(
    `update deposits set block_hash = null, verified_at = null, updated_at = ? where id = any(string_to_array(?, ',')::uuid[])`,
    [deps.now(), idsOf(gone)],
  );
  await withdrawHeld(
    em,
    deps,
    gone.map((row) => row.id),
  );
  for (const row of gone)
    deps.log.error({ depositId: row.id, block: block.number }, 'the final block does not hold a deposit that its first read showed');
}

const idsOf = (rows: readonly BoundDeposit[]): string => rows.map((row) => row.id).join(',');

/**
 * A read without a trace cannot deny what a trace, or the reconciliation, found in the very same block: the hash says that the block is
 * the same, its receipts that the transaction succeeded, and what was passed on inside it is then the same too.
 */
function maySimplyNotShow(block: ScannedBlock, network: Network, row: BoundDeposit): boolean {
  if (!block.untraced || row.currency !== NATIVE_CURRENCY[network] || row.block_hash !== block.hash) return false;
  return block.untraced.succeeded.has(row.transaction_hash);
}
