import type { ScannedBlock } from '../../chain/port.ts';
import type { Em } from '../../db/orm.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { withdrawHeld } from '../deposits/held.ts';
import type { Deps } from '../deps.ts';
import { addressKeyOf } from './address-key.ts';
import { forgetAbsent } from './unrecognised.ts';

type BoundDeposit = {
  readonly id: string;
  readonly transaction_hash: string;
  readonly address_key: string;
  readonly currency: string;
  readonly block_hash: string;
  readonly amount_units: string;
};

export type SecondRead = {
  readonly network: Network;
  readonly block: ScannedBlock;
  /** Deposits whose amount the trace of this very reading alone has shown: they wait for another trace, or for a balance. */
  readonly unproven: ReadonlySet<string>;
};

/**
 * Marks the deposits of a final block that its second read holds, and unbinds those that it does not hold, each in one statement. A read
 * without a trace proves only the amount that it shows itself. Returns how many were unbound. What was set aside and is not in it is
 * forgotten.
 */
export async function markVerified(em: Em, deps: Deps, { network, block, unproven }: SecondRead): Promise<number> {
  const bound = await em.execute<BoundDeposit[]>(
    `select id, transaction_hash, address_key, currency, block_hash, amount_units::text as amount_units from deposits where network = ? and mode = 'live' and block_number = ? and block_hash is not null`,
    [network, block.number],
  );
  const shown = new Map(
    block.transfers.map((transfer) => [`${transfer.txHash}:${addressKeyOf(transfer.to)}:${transfer.currency}`, transfer.amountUnits]),
  );
  const shownOf = (row: BoundDeposit): bigint | undefined => shown.get(`${row.transaction_hash}:${row.address_key}:${row.currency}`);
  const isHeld = (row: BoundDeposit): boolean => shownOf(row) !== undefined || maySimplyNotShow(block, network, row);
  const isProven = (row: BoundDeposit): boolean =>
    !unproven.has(row.id) && (!maySimplyNotShow(block, network, row) || (shownOf(row) ?? 0n) >= BigInt(row.amount_units));
  const [there, gone] = [bound.filter((row) => isHeld(row) && isProven(row)), bound.filter((row) => !isHeld(row))];
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
