import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { type Deposit, DepositAddress } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import { idOfTransfer } from '../deposits/identity.ts';
import { currentPrice } from '../deposits/price.ts';
import { recordDeposits } from '../deposits/record.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import { recordSent, topUpsAmong } from '../payouts/sent.ts';
import type { Tx } from '../transact.ts';
import { forgetDust, isDust, recordDust, recordOnTestAddresses } from '../uncredited/dust.ts';
import { recordUnrecognised } from '../uncredited/unrecognised.ts';
import { type Adrift, adriftOn, withAdrift } from './adrift.ts';

export type Prices = ReadonlyMap<Currency, Awaited<ReturnType<typeof currentPrice>>>;

export type Recording = {
  readonly network: Network;
  readonly block: ScannedBlock;
  readonly prices: Prices;
  readonly headNumber: number;
  /** The block is read once more, in full or in part. */
  readonly again?: boolean;
  /** What {@link adriftOn} returned, if the caller has asked already. */
  readonly adrift?: readonly Adrift[];
  /**
   * The hash of a transaction that an operator claims: what
   * it brought becomes a deposit even below the floor.
   */
  readonly claimed?: string | undefined;
};

/** Reads the prices a block needs before the transaction opens, so that no lock waits for a price. */
export async function pricesFor(deps: Deps, transfers: readonly Transfer[]): Promise<Prices> {
  const currencies = [...new Set(transfers.map((transfer) => transfer.currency))];
  return new Map(
    await Promise.all(
      currencies.map(async (currency) => [currency, await currentPrice(deps, currency)] as const),
    ),
  );
}

/**
 * `created` counts new deposits. `unproven`: the ids of
 * those whose amount no reading without a trace has shown.
 */
export type RecordedTransfers = { readonly created: number; readonly unproven: ReadonlySet<string> };

/**
 * Records everything that a block brought to our addresses, and what our wallets sent in it. Money on a
 * test-mode address, dust and what is never credited are recorded as uncredited for the operator.
 */
export async function recordTransfers(tx: Tx, deps: Deps, recording: Recording): Promise<RecordedTransfers> {
  const { network, block, again = false } = recording;
  await recordSent(tx.em, deps, { network, block });
  const { paid, dust, onTest } = await sortOut(tx.em, deps, recording);
  const { created, unproven } = await recordPaid(tx, deps, recording, paid);
  await forgetDust(tx.em, deps, { network, transfers: created });
  await recordDust(tx.em, deps, { network, block, transfers: dust });
  await recordOnTestAddresses(tx.em, deps, { network, block, transfers: onTest });
  await recordUnrecognised(tx.em, deps, {
    network,
    blockNumber: block.number,
    transfers: block.unrecognised,
    again,
  });
  return { created: created.length, unproven };
}

type Paid = { readonly transfer: Transfer; readonly owner: DepositAddress };
type Sorted = {
  readonly paid: readonly Paid[];
  readonly dust: readonly Transfer[];
  readonly onTest: readonly Transfer[];
};

async function sortOut(em: Em, deps: Deps, { network, block, claimed, adrift }: Recording): Promise<Sorted> {
  const transfers = block.untraced
    ? withAdrift(block, adrift ?? (await adriftOn(em, network)))
    : block.transfers;
  const owners = await ownersOf(em, network, transfers);
  const known = await knownOf(em, network, transfers);
  const topUps = await topUpsAmong(em, network, transfers);
  const paid: Paid[] = [];
  const dust: Transfer[] = [];
  const onTest: Transfer[] = [];
  for (const transfer of transfers) {
    const owner = owners.get(addressKeyOf(network, transfer.to));
    if (!owner || topUps.has(transfer)) continue;
    const before = known.get(idOfTransfer(network, transfer));
    // What was announced as a deposit stays one, however little of it is left.
    if (!before && claimed !== transfer.txHash && isDust(deps, network, transfer)) dust.push(transfer);
    else if (owner.mode === 'test') onTest.push(transfer);
    else if (!before || !showsOnlyPart(block, transfer, before)) paid.push({ transfer, owner });
  }
  return { paid, dust, onTest };
}

async function ownersOf(
  em: Em,
  network: Network,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<AddressKey, DepositAddress>> {
  if (transfers.length === 0) return new Map();
  const keys = [...new Set(transfers.map((transfer) => addressKeyOf(network, transfer.to)))];
  const found = await em.find(DepositAddress, { network, addressKey: { $in: keys } });
  return new Map(found.map((row) => [row.addressKey, row]));
}

type Known = { readonly id: string; readonly blockHash: string | null; readonly amountUnits: string };

async function knownOf(
  em: Em,
  network: Network,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<string, Known>> {
  if (transfers.length === 0) return new Map();
  const ids = transfers.map((transfer) => idOfTransfer(network, transfer));
  const found = await rows(
    em,
    sql<Known>`select id, block_hash, amount_units::text as amount_units from deposits
      where id = any(${ids}::uuid[])`,
  );
  return new Map(found.map((row) => [row.id, row]));
}

/**
 * True when a read without a trace shows only the plain part
 * of a native deposit that is known from this very block.
 */
function showsOnlyPart(block: ScannedBlock, transfer: Transfer, known: Known): boolean {
  if (!block.untraced || transfer.kind !== 'native') return false;
  return known.blockHash === block.hash && BigInt(known.amountUnits) >= transfer.amountUnits;
}

async function recordPaid(
  tx: Tx,
  deps: Deps,
  { network, block, prices, headNumber }: Recording,
  paid: readonly Paid[],
) {
  const created: Transfer[] = [];
  const unproven = new Set<string>();
  if (paid.length === 0) return { created, unproven };
  const incoming = paid.map(({ transfer, owner }) => ({
    mode: 'live' as const,
    simulated: false,
    merchantId: owner.merchantId,
    customerId: owner.customerId,
    network,
    currency: transfer.currency,
    address: owner.address,
    addressKey: owner.addressKey,
    fromAddress: transfer.from,
    transactionHash: transfer.txHash,
    amountUnits: transfer.amountUnits,
    blockNumber: block.number,
    blockHash: block.hash,
    minedAt: new Date(block.timestampMs),
    headNumber: Math.max(headNumber, block.number),
    price: prices.get(transfer.currency),
  }));
  // All of the block's customers at once, so that the locks are
  // taken in one order, whatever the order of their deposits.
  await lockPayers(tx.em, [...new Set(paid.map(({ owner }) => owner.customerId))]);
  const recorded = await recordDeposits(tx, deps, incoming);
  for (const [index, { transfer }] of paid.entries()) {
    const one = recorded[index];
    if (one?.outcome === 'created') created.push(transfer);
    if (one && transfer.inside) unproven.add(one.deposit.id);
    if (one?.outcome === 'amount_differs') noteDiffering(deps, one.deposit, block, transfer);
  }
  return { created, unproven };
}

function noteDiffering(deps: Deps, deposit: Deposit, block: ScannedBlock, transfer: Transfer): void {
  deps.log.error(
    {
      depositId: deposit.id,
      block: block.number,
      credited: deposit.amountUnits.toString(),
      shown: transfer.amountUnits.toString(),
    },
    'a read shows another amount than the one that was credited; it is not rewritten, and the difference stands in "reconcile": compare it with an explorer',
  );
}
