import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, spellingsOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer, UnrecognisedTransfer } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { fitted, MAX_REASON } from '../../domain/text.ts';
import type { Deps } from '../deps.ts';

const NATIVE = '';
/**
 * How many transfers of one stranger's token are kept of one day:
 * they cost their sender nearly nothing, and nobody reads more.
 */
const KEPT_OF_A_TOKEN = 1_000;

type Aside = {
  readonly network: Network;
  readonly blockNumber: number;
  readonly transfers: readonly UnrecognisedTransfer[];
  /**
   * The block is read once more: what is left out of it was counted at its
   * first read, and this read decides the amounts of strangers' tokens.
   */
  readonly again?: boolean;
};

/**
 * Keeps what reached our addresses and cannot be credited, in one statement. One row for each
 * transaction, address and contract. Of a token that is not ours only some transfers are kept a day; how
 * many were left out is counted (about: a block that is replaced counts twice), and logged once a day.
 */
export async function recordUnrecognised(
  em: Em,
  deps: Deps,
  { network, blockNumber, transfers, again = false }: Aside,
): Promise<void> {
  if (transfers.length === 0) return;
  const own = spellingsOf(network, deps.settings.contracts[network]);
  const incoming = transfers.map((transfer, place) => ({
    place,
    id: deps.newId(),
    transaction_hash: transfer.txHash,
    address: transfer.to,
    address_key: addressKeyOf(network, transfer.to),
    contract_address: transfer.contract ?? NATIVE,
    amount_units: transfer.amountUnits?.toString() ?? null,
    reason: fitted(transfer.reason, MAX_REASON),
    foreign_token: transfer.contract !== null && !own.includes(transfer.contract),
  }));
  const now = deps.now();
  for (const { contract } of await rows(
    em,
    recording({ network, blockNumber, incoming: JSON.stringify(incoming), now, again }),
  ))
    deps.log.warn(
      { network, contract },
      'a token floods our addresses: no more of it is kept today, only counted',
    );
}

/** The day of a moment in UTC, as in 2026-11-22. */
export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

type Recording = Required<Omit<Aside, 'transfers'>> & { readonly incoming: string; readonly now: Date };

/**
 * Its rows are the tokens of which something is left out for the first time that day. `address_key || ''`
 * keeps the planner from the index of addresses: it takes every address for one that received little, and
 * a flooded one would be gone through once for each transfer of the block.
 */
const recording = ({ network, blockNumber, incoming, now, again }: Recording) => sql<{ contract: string }>`
with incoming as (
  select * from jsonb_to_recordset(${incoming}::jsonb) as r (place int, id uuid, transaction_hash text,
    address text, address_key text, contract_address text,
    amount_units numeric, reason text, foreign_token boolean)
), fresh as (
  select i.*, row_number() over (partition by i.contract_address order by i.place) as nth from incoming i
    where not exists (
    select from unrecognised_transfers u
      where u.network = ${network} and u.transaction_hash = i.transaction_hash
      and u.address_key || '' = i.address_key
      and u.contract_address = i.contract_address)
), sorted as (
  select f.*, not f.foreign_token or f.nth + coalesce(d.kept, 0) <= limits.most as keeps
  from fresh f left join unrecognised_days d on d.network = ${network}
    and d.contract_address = f.contract_address and d.day = ${dayOf(now)}
    cross join (select ${KEPT_OF_A_TOKEN}::int as most) limits
), kept as (
  insert into unrecognised_transfers
    (id, network, transaction_hash, address, address_key, contract_address, amount_units, block_number,
      reason, foreign_token, created_at)
  select id, ${network}, transaction_hash, address, address_key, contract_address, amount_units,
    ${blockNumber}::bigint, reason, foreign_token,
    ${now}::timestamptz
  from sorted where keeps on conflict (network, transaction_hash, address_key, contract_address) do nothing
), corrected as (
  update unrecognised_transfers u set amount_units = i.amount_units
  from (select distinct on (transaction_hash, address_key, contract_address) * from incoming
    where foreign_token
    order by transaction_hash, address_key, contract_address, place) i
  where ${again}::boolean and u.network = ${network} and u.transaction_hash = i.transaction_hash
    and u.address_key || '' = i.address_key
    and u.contract_address = i.contract_address and u.foreign_token
    and u.amount_units is distinct from i.amount_units
), counts as (
  select contract_address, count(*) filter (where keeps) as kept, count(*)
    filter (where not keeps) as left_out
  from sorted where foreign_token group by contract_address
), counted as (
  insert into unrecognised_days as d (network, contract_address, day, kept, left_out)
  select ${network}, c.contract_address, ${dayOf(now)}, c.kept, case when again.so then 0 else c.left_out end
  from counts c cross join (select ${again}::boolean as so) again
  order by c.contract_address
  on conflict (network, contract_address, day) do update set kept = d.kept + excluded.kept,
    left_out = d.left_out + excluded.left_out
  returning contract_address, left_out
)
select contract_address as contract from counted join counts using (contract_address)
  where counted.left_out > 0 and counted.left_out = counts.left_out`;

/**
 * Forgets what was recorded for blocks above this one: they were replaced, and the
 * reads of the new blocks keep what is there. Returns how many rows were removed.
 */
export async function forgetAbove(em: Em, network: Network, blockNumber: number): Promise<number> {
  return await run(
    em,
    sql`delete from unrecognised_transfers where network = ${network} and block_number > ${blockNumber}
      and transaction_hash <> ''`,
  );
}

type Kept = { id: string; transactionHash: string; addressKey: AddressKey; contractAddress: string };

/**
 * Forgets what an earlier read showed at the height of a final block and the
 * block does not hold. BNB that a contract passed on is not denied by a read
 * without a trace, nor is anything by a read that shows more than is kept.
 */
export async function forgetAbsent(em: Em, deps: Deps, network: Network, block: ScannedBlock): Promise<void> {
  if (block.unrecognisedDropped > 0) return;
  const kept = await rows(
    em,
    sql<Kept>`select id, transaction_hash, address_key, contract_address from unrecognised_transfers
     where network = ${network} and block_number = ${block.number} and transaction_hash <> ''`,
  );
  if (kept.length === 0) return;
  const held = new Set([
    ...block.unrecognised.map(({ txHash, to, contract }) =>
      placeOf(network, txHash, addressKeyOf(network, to), contract ?? NATIVE),
    ),
    ...[...block.transfers, ...(block.own ?? [])].map((transfer) =>
      placeOf(
        network,
        transfer.txHash,
        addressKeyOf(network, transfer.to),
        contractOf(deps, network, transfer) ?? NATIVE,
      ),
    ),
  ]);
  const absent = kept
    .filter((row) => !held.has(placeOf(network, row.transactionHash, row.addressKey, row.contractAddress)))
    .filter((row) => row.contractAddress !== NATIVE || !block.untraced?.succeeded.has(row.transactionHash));
  if (absent.length === 0) return;
  await run(em, sql`delete from unrecognised_transfers where id = any(${absent.map((row) => row.id)})`);
  const transactions = [...new Set(absent.map((row) => row.transactionHash))];
  deps.log.warn(
    { network, block: block.number, transactions },
    'the final block does not hold what was set aside',
  );
}

const placeOf = (network: Network, txHash: string, addressKey: AddressKey, contract: string): string =>
  `${txHash}:${addressKey}:${contract === NATIVE ? NATIVE : addressKeyOf(network, contract)}`;

/**
 * The contract under which a transfer in one of our assets
 * is recorded as uncredited; null for the chain's own coin.
 */
export function contractOf(deps: Deps, network: Network, transfer: Pick<Transfer, 'kind'>): string | null {
  return transfer.kind === 'native' ? null : deps.settings.contracts[network];
}
