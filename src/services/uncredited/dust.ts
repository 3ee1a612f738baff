import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import { assetOf, type Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import type { Place } from '../reconciliation/place.ts';
import { contractOf } from './unrecognised.ts';

const DUST = 'dust';
const ON_TEST_ADDRESS = 'real money on a test-mode address';

/**
 * True for money that is too little to become a deposit: what
 * one transaction brought to one address in one asset, summed.
 */
export function isDust(
  deps: Deps,
  network: Network,
  transfer: Pick<Transfer, 'currency' | 'amountUnits'>,
): boolean {
  const floor = deps.settings.dustFloorUnits.get(`${transfer.currency}.${network}`);
  return floor !== undefined && transfer.amountUnits < floor;
}

type Aside = {
  readonly network: Network;
  readonly block: ScannedBlock;
  readonly transfers: readonly Transfer[];
};

/** Keeps dust for the operator, as {@link recordUncredited} does. */
export async function recordDust(em: Em, deps: Deps, aside: Aside): Promise<void> {
  await recordUncredited(em, deps, aside, DUST);
}

/**
 * Keeps what reached addresses of test mode, as {@link recordUncredited}
 * does. Nobody is credited with it; it is logged, because somebody misses it.
 */
export async function recordOnTestAddresses(em: Em, deps: Deps, aside: Aside): Promise<void> {
  for (const { txHash, to } of aside.transfers)
    deps.log.error({ network: aside.network, transactionHash: txHash, address: to }, ON_TEST_ADDRESS);
  await recordUncredited(em, deps, aside, ON_TEST_ADDRESS);
}

/**
 * Keeps money in our own assets that is not credited, in one statement. It counts
 * as money that lies on its address, so a later read of the block corrects its
 * amount; a read without a trace shows a lower limit of it and lowers nothing.
 */
async function recordUncredited(
  em: Em,
  deps: Deps,
  { network, block, transfers }: Aside,
  reason: string,
): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map((transfer) => ({
    id: deps.newId(),
    transaction_hash: transfer.txHash,
    address: transfer.to,
    address_key: addressKeyOf(network, transfer.to),
    contract_address: contractOf(deps, network, transfer) ?? '',
    amount_units: transfer.amountUnits.toString(),
    lowest: block.untraced !== undefined && transfer.kind === 'native',
  }));
  await run(
    em,
    sql`insert into unrecognised_transfers as u
      (id, network, transaction_hash, address, address_key, contract_address, amount_units, block_number,
        reason, foreign_token, created_at)
    select i.id, ${network}, i.transaction_hash, i.address, i.address_key, i.contract_address,
      case when i.lowest then greatest(i.amount_units, known.amount_units) else i.amount_units end,
      ${block.number}::bigint, ${reason}, false, ${deps.now()}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i (id uuid, transaction_hash text,
      address text, address_key text,
      contract_address text, amount_units numeric, lowest boolean)
    left join unrecognised_transfers known on known.network = ${network}
      and known.transaction_hash = i.transaction_hash
      and known.address_key = i.address_key and known.contract_address = i.contract_address
    on conflict (network, transaction_hash, address_key, contract_address) do update
      set amount_units = excluded.amount_units, block_number = excluded.block_number, reason = excluded.reason
      where u.reason in (${DUST}, ${ON_TEST_ADDRESS})`,
  );
}

/**
 * What of a transaction is kept as dust of a place, if it
 * did not become a deposit: it is counted there already.
 */
export async function dustOf(
  em: Em,
  deps: Deps,
  { network, addressKey, currency }: Place,
  txHash: string,
): Promise<bigint> {
  const contract = contractOf(deps, network, assetOf(network, currency)) ?? '';
  const row = await firstRow(
    em,
    sql<{ units: string }>`
      select amount_units::text as units from unrecognised_transfers
      where network = ${network} and transaction_hash = ${txHash} and address_key = ${addressKey}
        and contract_address = ${contract}
        and reason = ${DUST}`,
  );
  return BigInt(row?.units ?? 0);
}

/** Forgets dust that has become a deposit: a later read showed more of it, or an operator claimed it. */
export async function forgetDust(
  em: Em,
  deps: Deps,
  { network, transfers }: { readonly network: Network; readonly transfers: readonly Transfer[] },
): Promise<void> {
  if (transfers.length === 0) return;
  const rows = transfers.map((transfer) => ({
    transaction_hash: transfer.txHash,
    address_key: addressKeyOf(network, transfer.to),
    contract_address: contractOf(deps, network, transfer) ?? '',
  }));
  await run(
    em,
    sql`delete from unrecognised_transfers u
     using jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as i (transaction_hash text, address_key text,
       contract_address text)
     where u.network = ${network} and u.reason = ${DUST} and u.transaction_hash = i.transaction_hash
       and u.address_key = i.address_key
       and u.contract_address = i.contract_address`,
  );
}
