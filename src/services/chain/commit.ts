import type { ScannedBlock, Transfer } from '../../chain/port.ts';
import { type ChainCursor, DepositAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { withdrawHeld } from '../deposits/held.ts';
import { currentPrice } from '../deposits/price.ts';
import { recordDeposit } from '../deposits/record.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payments/money.ts';
import { type Tx, transact } from '../transact.ts';
import { addressKeyOf } from './address-key.ts';
import { type Anchor, moveCursor } from './cursor.ts';
import { forgetAbsent, recordUnrecognised, setAside } from './unrecognised.ts';

/** What a look knows of the chain; `anchored` where the kept chain was found to run through a block that is final. */
export type ChainState = { readonly headNumber: number; readonly finalizedNumber: number; readonly anchored?: Anchor | undefined };
export type Commit = { readonly created: number; readonly foundLate: number; readonly withdrawn: number };

type Prices = ReadonlyMap<Currency, Awaited<ReturnType<typeof currentPrice>>>;

/** Reads the prices a block needs before the transaction opens, so that no lock waits for a price. */
export async function pricesFor(deps: Deps, transfers: readonly Transfer[]): Promise<Prices> {
  const currencies = [...new Set(transfers.map((transfer) => transfer.currency))];
  return new Map(await Promise.all(currencies.map(async (currency) => [currency, await currentPrice(deps, currency)] as const)));
}

/**
 * First read: consecutive blocks, their deposits and the cursor in one transaction. The caller has checked that each block links to the one
 * before and the first to the cursor. `final` says that they were final long before they were read and that all below is verified: then
 * this read is the second one too.
 */
export async function commitBlocks(
  deps: Deps,
  cursor: ChainCursor,
  blocks: readonly ScannedBlock[],
  chain: ChainState,
  { final = false }: { readonly final?: boolean } = {},
): Promise<Commit> {
  const last = blocks.at(-1);
  if (!last) return { created: 0, foundLate: 0, withdrawn: 0 };
  const { network } = cursor;
  const prices = await pricesFor(
    deps,
    blocks.flatMap((block) => block.transfers),
  );
  return await transact(deps, async (tx) => {
    const verified = final ? { rereadNumber: last.number } : {};
    await moveCursor(tx.em, deps, cursor, { scannedNumber: last.number, scannedHash: last.hash, ...verified, ...chain });
    await keepBlocks(tx.em, network, blocks);
    let created = 0;
    for (const block of blocks) {
      created += await recordTransfers(tx, deps, { network, block, prices, headNumber: chain.headNumber });
      await recordUnrecognised(tx.em, deps, { network, block, transfers: block.unrecognised });
    }
    const withdrawn = final ? await markAllVerified(tx.em, deps, network, blocks) : 0;
    return { created, foundLate: 0, withdrawn };
  });
}

async function keepBlocks(em: Em, network: Network, blocks: readonly ScannedBlock[]): Promise<void> {
  await em.execute(
    `insert into chain_blocks (network, number, hash, parent_hash, mined_at) values ${blocks.map(() => '(?, ?, ?, ?, ?)').join(', ')}
     on conflict (network, number) do update set hash = excluded.hash, parent_hash = excluded.parent_hash, mined_at = excluded.mined_at`,
    blocks.flatMap((block) => [network, block.number, block.hash, block.parentHash, new Date(block.timestampMs)]),
  );
}

/** {@link markVerified} for each of these blocks that a deposit is bound to; most blocks of a catch-up hold none. */
async function markAllVerified(em: Em, deps: Deps, network: Network, blocks: readonly ScannedBlock[]): Promise<number> {
  const bound = await em.execute<{ block_number: string }[]>(
    `select distinct block_number from deposits where network = ? and mode = 'live' and block_number between ? and ? and block_hash is not null`,
    [network, blocks[0]?.number ?? 0, blocks.at(-1)?.number ?? -1],
  );
  const numbers = new Set(bound.map((row) => Number.parseInt(row.block_number, 10)));
  let withdrawn = 0;
  for (const block of blocks) if (numbers.has(block.number)) withdrawn += await markVerified(em, deps, network, block);
  return withdrawn;
}

/**
 * Second read, once the block is final: what it holds is the truth. Deposits it confirms are marked as verified, ones that the first
 * read missed are recorded late, ones that it does not hold lose their block and are decided by `advance`.
 */
export async function commitVerified(deps: Deps, cursor: ChainCursor, block: ScannedBlock, chain: ChainState): Promise<Commit> {
  const prices = await pricesFor(deps, block.transfers);
  return await transact(deps, async (tx) => {
    await moveCursor(tx.em, deps, cursor, { rereadNumber: block.number, ...chain });
    const foundLate = await recordTransfers(tx, deps, { network: cursor.network, block, prices, headNumber: chain.headNumber });
    await recordUnrecognised(tx.em, deps, { network: cursor.network, block, transfers: block.unrecognised });
    const withdrawn = await markVerified(tx.em, deps, cursor.network, block);
    return { created: 0, foundLate, withdrawn };
  });
}

/**
 * Marks the deposits of a final block that its second read holds, and unbinds those that it does not hold. Returns how many were unbound.
 * What was set aside and is not in it is forgotten.
 */
export async function markVerified(em: Em, deps: Deps, network: Network, block: ScannedBlock): Promise<number> {
  const bound = await em.execute<BoundDeposit[]>(
    `select id, transaction_hash, address_key, currency, block_hash from deposits where network = ? and mode = 'live' and block_number = ? and block_hash is not null`,
    [network, block.number],
  );
  const held = new Set(block.transfers.map((transfer) => `${transfer.txHash}:${addressKeyOf(transfer.to)}:${transfer.currency}`));
  const has = (row: BoundDeposit): boolean =>
    held.has(`${row.transaction_hash}:${row.address_key}:${row.currency}`) || maySimplyNotShow(block, network, row);
  const now = deps.now();
  let withdrawn = 0;
  for (const row of bound) {
    if (has(row))
      await em.execute('update deposits set verified_at = coalesce(verified_at, ?) where id = ? and block_hash = ?', [
        now,
        row.id,
        block.hash,
      ]);
    else {
      withdrawn += 1;
      await em.execute('update deposits set block_hash = null, verified_at = null, updated_at = ? where id = ?', [now, row.id]);
      await withdrawHeld(em, deps, [row.id]);
      deps.log.error({ depositId: row.id, block: block.number }, 'the final block does not hold a deposit that its first read showed');
    }
  }
  await forgetAbsent(em, deps, network, block);
  return withdrawn;
}

type BoundDeposit = { id: string; transaction_hash: string; address_key: string; currency: string; block_hash: string };

/**
 * A read without a trace cannot deny what a trace, or the reconciliation, found in the very same block: the hash says that the block is
 * the same, its receipts that the transaction succeeded, and what was passed on inside it is then the same too.
 */
function maySimplyNotShow(block: ScannedBlock, network: Network, row: BoundDeposit): boolean {
  if (!block.untraced || row.currency !== NATIVE_CURRENCY[network] || row.block_hash !== block.hash) return false;
  return block.untraced.succeeded.has(row.transaction_hash);
}

/** True where a read without a trace shows only the plain part of a native deposit that is known from this very block. */
async function showsOnlyPart(em: Em, network: Network, block: ScannedBlock, transfer: Transfer): Promise<boolean> {
  if (!block.untraced || transfer.kind !== 'native') return false;
  const [known] = await em.execute<{ id: string }[]>(
    `select id from deposits where network = ? and mode = 'live' and transaction_hash = ? and address_key = ? and currency = ?
       and block_hash = ? and amount_units >= ?`,
    [network, transfer.txHash, addressKeyOf(transfer.to), transfer.currency, block.hash, transfer.amountUnits.toString()],
  );
  return known !== undefined;
}

type Recording = { network: Network; block: ScannedBlock; prices: Prices; headNumber: number };

/** Records a block's transfers to live addresses; returns how many deposits are new. Money on a test-mode address is set aside for the operator. */
export async function recordTransfers(tx: Tx, deps: Deps, { network, block, prices, headNumber }: Recording): Promise<number> {
  if (block.transfers.length === 0) return 0;
  const keys = [...new Set(block.transfers.map((transfer) => addressKeyOf(transfer.to)))];
  const rows = await tx.em.find(DepositAddress, { network, addressKey: { $in: keys } });
  const byKey = new Map(rows.map((row) => [row.addressKey, row]));
  await lockPayers(tx.em, [...new Set(rows.filter((row) => row.mode === 'live').map((row) => row.customerId))]);
  let created = 0;
  for (const transfer of block.transfers) {
    const owner = byKey.get(addressKeyOf(transfer.to));
    if (!owner) continue;
    if (owner.mode === 'test') {
      await setAside(tx.em, deps, { network, block, transfer, address: owner.address });
      continue;
    }
    if (await showsOnlyPart(tx.em, network, block, transfer)) continue;
    const recorded = await recordDeposit(tx, deps, {
      ...{ mode: 'live', simulated: false, merchantId: owner.merchantId, customerId: owner.customerId, network },
      ...{ currency: transfer.currency, address: owner.address, addressKey: owner.addressKey, fromAddress: transfer.from },
      ...{ transactionHash: transfer.txHash, amountUnits: transfer.amountUnits, blockNumber: block.number, blockHash: block.hash },
      minedAt: new Date(block.timestampMs),
      ...{ headNumber: Math.max(headNumber, block.number), price: prices.get(transfer.currency) },
    });
    if (recorded.outcome === 'created') created += 1;
    if (recorded.outcome === 'amount_differs') {
      deps.log.error(
        { depositId: recorded.deposit.id, block: block.number },
        'a credited deposit was mined again with another amount; compare it with the chain by hand',
      );
    }
  }
  return created;
}
