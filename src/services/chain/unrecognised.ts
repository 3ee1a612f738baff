import type { ScannedBlock, Transfer, UnrecognisedTransfer } from '../../chain/port.ts';
import type { Em } from '../../db/orm.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { addressKeyOf } from './address-key.ts';

const NATIVE = '';

type Aside = { network: Network; block: ScannedBlock; transfers: readonly UnrecognisedTransfer[] };
type Kept = { id: string; transaction_hash: string; address_key: string; contract_address: string };

const placeOf = (txHash: string, addressKey: string, contract: string): string => `${txHash}:${addressKey}:${contract.toLowerCase()}`;

/** Keeps what reached our addresses and cannot be credited. One row for each transaction, address and contract. */
export async function recordUnrecognised(em: Em, deps: Deps, { network, block, transfers }: Aside): Promise<void> {
  for (const transfer of transfers) {
    await em.execute(
      `insert into unrecognised_transfers (id, network, transaction_hash, address, address_key, contract_address, amount_units, block_number, reason, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (network, transaction_hash, address_key, contract_address) do nothing`,
      [
        ...[deps.newId(), network, transfer.txHash, transfer.to, addressKeyOf(transfer.to), transfer.contract ?? NATIVE],
        ...[transfer.amountUnits?.toString() ?? null, block.number, transfer.reason.slice(0, 290), deps.now()],
      ],
    );
  }
}

/** Keeps real money that reached an address of test mode, and says so: nobody is credited with it. */
export async function setAside(
  em: Em,
  deps: Deps,
  input: { network: Network; block: ScannedBlock; transfer: Transfer; address: string },
): Promise<void> {
  const { transfer, block, network } = input;
  const reason = 'real money on a test-mode address';
  const contract = contractOf(deps, network, transfer);
  await recordUnrecognised(em, deps, {
    network,
    block,
    transfers: [{ txHash: transfer.txHash, to: transfer.to, contract, amountUnits: transfer.amountUnits, reason }],
  });
  deps.log.error({ network, transactionHash: transfer.txHash, address: input.address }, reason);
}

/** Forgets what lay in blocks above this one: they were replaced, and the reads of the new ones keep what is there. Returns how many. */
export async function forgetAbove(em: Em, network: Network, blockNumber: number): Promise<number> {
  const gone = await em.execute<{ id: string }[]>(
    `delete from unrecognised_transfers where network = ? and block_number > ? and transaction_hash <> '' returning id`,
    [network, blockNumber],
  );
  return gone.length;
}

/**
 * Forgets what an earlier read showed at the height of a final block and the block does not hold. BNB that a contract passed on is not
 * denied by a read without a trace, nor anything by one that shows more than is kept.
 */
export async function forgetAbsent(em: Em, deps: Deps, network: Network, block: ScannedBlock): Promise<void> {
  if (block.unrecognisedDropped > 0) return;
  const kept = await em.execute<Kept[]>(
    `select id, transaction_hash, address_key, contract_address from unrecognised_transfers
     where network = ? and block_number = ? and transaction_hash <> ''`,
    [network, block.number],
  );
  if (kept.length === 0) return;
  const held = new Set([
    ...block.unrecognised.map(({ txHash, to, contract }) => placeOf(txHash, addressKeyOf(to), contract ?? NATIVE)),
    ...[...block.transfers, ...(block.own ?? [])].map((transfer) =>
      placeOf(transfer.txHash, addressKeyOf(transfer.to), contractOf(deps, network, transfer) ?? NATIVE),
    ),
  ]);
  for (const row of kept) {
    if (held.has(placeOf(row.transaction_hash, row.address_key, row.contract_address))) continue;
    if (row.contract_address === NATIVE && block.untraced?.succeeded.has(row.transaction_hash)) continue;
    await em.execute('delete from unrecognised_transfers where id = ?', [row.id]);
    deps.log.warn(
      { network, transactionHash: row.transaction_hash, block: block.number },
      'the final block does not hold what was set aside',
    );
  }
}

function contractOf(deps: Deps, network: Network, transfer: Transfer): string | null {
  return transfer.kind === 'native' ? null : deps.settings.contracts[network];
}
