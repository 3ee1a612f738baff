import type { AddressKey } from '../../chains/address-key.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, sql } from '../../db/sql.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import type { Deps } from '../deps.ts';

/**
 * A native deposit that is bound to a block which was read
 * twice, and that no read without traces could verify.
 */
export type Unproven = { readonly id: string; readonly addressKey: AddressKey; readonly amountUnits: string };

/**
 * The unproven deposits of these addresses up to a block. Read before
 * the ledger is summed up: what comes later is no part of that sum.
 */
export async function unprovenAt(
  em: Em,
  at: {
    readonly network: Network;
    readonly addressKeys: readonly AddressKey[];
    readonly blockNumber: number;
  },
): Promise<Unproven[]> {
  return await rows(
    em,
    sql<Unproven>`
      select id, address_key, amount_units::text as amount_units from deposits
      where network = ${at.network} and address_key = any(${at.addressKeys})
        and currency = ${NATIVE_CURRENCY[at.network]} and mode = 'live'
        and not simulated and block_number <= ${at.blockNumber} and block_hash is not null
        and verified_at is null
        and status in ${literals(WAITING_STATES)}`,
  );
}

/**
 * Marks deposits as verified whose address holds exactly what the ledger says, including them:
 * the balance proves what a second trace would have. A deposit whose amount is corrected at
 * this very moment is left out: it was not part of that sum. Returns how many were marked.
 */
export async function proveByAgreement(em: Em, deps: Deps, unproven: readonly Unproven[]): Promise<number> {
  if (unproven.length === 0) return 0;
  const now = deps.now();
  const proven = await rows(
    em,
    sql<{ id: string }>`
     update deposits d set verified_at = ${now}, updated_at = ${now}
     from jsonb_to_recordset(${JSON.stringify(unproven)}::jsonb) as p (id uuid, "amountUnits" numeric)
     where d.id = p.id and d.amount_units = p."amountUnits" and d.verified_at is null
       and d.block_hash is not null returning d.id`,
  );
  for (const { id } of proven)
    deps.log.info(
      { depositId: id },
      'the balance of its address proves a deposit that one trace alone had shown',
    );
  return proven.length;
}
