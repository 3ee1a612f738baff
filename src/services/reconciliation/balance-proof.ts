import type { AddressKey } from '../../chains/address-key.ts';
import type { Em } from '../../db/orm.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** A native deposit that is bound to a block which was read twice, and that no read without traces could verify. */
export type Unproven = { readonly id: string; readonly addressKey: AddressKey; readonly amountUnits: string };

/** The unproven deposits of these addresses up to a block. Read before the ledger is summed up: what comes later is no part of that sum. */
export async function unprovenAt(
  em: Em,
  at: { readonly network: Network; readonly addressKeys: readonly AddressKey[]; readonly blockNumber: number },
): Promise<Unproven[]> {
  const rows = await em.execute<{ id: string; address_key: AddressKey; amount_units: string }[]>(
    `select id, address_key, amount_units::text as amount_units from deposits where network = ? and address_key = any(string_to_array(?, ',')) and currency = ? and mode = 'live'
       and not simulated and block_number <= ? and block_hash is not null and verified_at is null and status in ('detected', 'confirming')`,
    [at.network, at.addressKeys.join(','), NATIVE_CURRENCY[at.network], at.blockNumber],
  );
  return rows.map((row) => ({ id: row.id, addressKey: row.address_key, amountUnits: row.amount_units }));
}

/**
 * Marks deposits as verified whose address holds exactly what the ledger says, with them: the balance proves what a second trace would have.
 * One whose amount is put right at this very moment is none of them: it was not part of that sum. Returns how many.
 */
export async function proveByAgreement(em: Em, deps: Deps, unproven: readonly Unproven[]): Promise<number> {
  if (unproven.length === 0) return 0;
  const now = deps.now();
  const rows = await em.execute<{ id: string }[]>(
    `update deposits d set verified_at = ?, updated_at = ? from jsonb_to_recordset(?::jsonb) as p (id uuid, "amountUnits" numeric)
     where d.id = p.id and d.amount_units = p."amountUnits" and d.verified_at is null and d.block_hash is not null returning d.id`,
    [now, now, JSON.stringify(unproven)],
  );
  for (const { id } of rows) deps.log.info({ depositId: id }, 'the balance of its address proves a deposit that one trace alone had shown');
  return rows.length;
}
