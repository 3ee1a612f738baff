import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import type { Deposit, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, sql } from '../../db/sql.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { cameIn } from '../../domain/ledger.ts';
import { depositIdOf, idOfTransfer } from '../deposits/identity.ts';
import type { Deps } from '../deps.ts';
import type { Tx } from '../transact.ts';
import { recordUnrecognised } from '../uncredited/unrecognised.ts';
import { isClosed, lessen } from './attributed.ts';
import { assetKey, boundUnits, COVERED, ourAssets } from './expected-balances.ts';
import type { Place } from './place.ts';

/** By the block `foundNumber`, `arrivedUnits` had come to a place, whatever became of them. */
export type Bound = Pick<DepositAttribution, 'foundNumber' | 'arrivedUnits'>;

/** A repeated read of a block, which is compared with what is known. */
export type Asked = {
  readonly network: Network;
  readonly block: ScannedBlock;
  readonly headNumber: number;
  /** Whether a transfer's amount, or its absence, is the whole truth about this deposit. */
  readonly isWhole: (deposit: Deposit) => boolean;
  /** Further balances that limit what may be credited. */
  readonly bounds?: readonly (Place & Bound)[];
};

/** The deposits of a block and of what was attributed at its addresses, by id, each locked. */
export type Known = ReadonlyMap<string, Deposit>;

/** What was attributed at the addresses of a block, and {@link Known}. */
export type Facts = { readonly evidence: readonly DepositAttribution[]; readonly known: Known };

/**
 * What was recorded as uncredited of a block in our own assets, by the id
 * of the deposit that it would be: it is counted on its address already.
 */
export type Aside = ReadonlyMap<string, bigint>;

/** Reads {@link Aside}, before what the block covered is forgotten. */
export async function asideOf(em: Em, deps: Deps, { network, block }: Asked): Promise<Aside> {
  const found = await rows(
    em,
    sql<{ transactionHash: string; addressKey: AddressKey; native: boolean; units: string }>`
      select transaction_hash, address_key, contract_address = '' as native, amount_units::text as units
        from unrecognised_transfers
      where network = ${network} and block_number = ${block.number} and transaction_hash <> ''
        and amount_units is not null and reason <> ${COVERED}
        and contract_address = any(${ourAssets(deps, network)}::text[])`,
  );
  return new Map(
    found.map(({ transactionHash, addressKey, native, units }) => {
      const currency = native ? NATIVE_CURRENCY[network] : 'USDT';
      return [depositIdOf({ mode: 'live', network, transactionHash, addressKey, currency }), BigInt(units)];
    }),
  );
}

type Recording = Facts & { readonly transfers: readonly Transfer[]; readonly aside: Aside };

/**
 * The transfers, each with as much as the address has room for, given what is known to have arrived there.
 */
export async function withinRoom(
  tx: Tx,
  deps: Deps,
  asked: Asked,
  { transfers, evidence, known, aside }: Recording,
): Promise<Transfer[]> {
  const { network, block } = asked;
  const allowed: Transfer[] = [];
  for (const ofOne of Map.groupBy(transfers, (one) =>
    assetKey(addressKeyOf(network, one.to), one.currency),
  ).values()) {
    const [{ to, currency }] = ofOne as [Transfer, ...Transfer[]];
    const place: Place = { network, addressKey: addressKeyOf(network, to), currency };
    const isBound = (row: Place & Bound): boolean =>
      isAt(place, row) && row.foundNumber != null && row.foundNumber >= block.number;
    const bounds = [...evidence, ...(asked.bounds ?? [])].filter(isBound);
    const addedOf = (one: Transfer, id: string): bigint =>
      addedBy(asked, one, known.get(id)) - (aside.get(id) ?? 0n);
    const added = new Map(ofOne.map((one) => [one, addedOf(one, idOfTransfer(network, one))]));
    const sum = [...added.values()].reduce((total, units) => total + units, 0n);
    const room = sum > 0n ? await roomOf(tx.em, deps, place, bounds) : undefined;
    let over = room === undefined ? 0n : sum - room;
    if (over > 0n)
      over = await takeOver(tx, deps, asked, { over, attributed: attributedAt(place, { evidence, known }) });
    for (const one of ofOne) {
      const cut = over > 0n ? min(over, added.get(one) ?? 0n) : 0n;
      over -= cut;
      if (cut <= 0n) allowed.push(one);
      else if (one.amountUnits > cut) allowed.push({ ...one, amountUnits: one.amountUnits - cut });
      if (cut > 0n) await setCovered(tx, deps, asked, { one, cut });
    }
  }
  return allowed;
}

/**
 * How much more may be bound at a place, by each balance that
 * it was ever compared with; undefined if there was none.
 */
export async function roomOf(
  em: Em,
  deps: Deps,
  place: Place,
  bounds: readonly Bound[],
): Promise<bigint | undefined> {
  let room: bigint | undefined;
  for (const { foundNumber, arrivedUnits } of bounds) {
    if (foundNumber == null || arrivedUnits == null) continue;
    const left = arrivedUnits - (await boundUnits(em, deps, place, foundNumber));
    room = room === undefined ? left : min(room, left);
  }
  return room;
}

/** By how much recording a transfer raises what is bound to blocks. */
function addedBy({ block }: Asked, transfer: Transfer, known: Deposit | undefined): bigint {
  if (!known) return transfer.amountUnits;
  const { status: state, failureCode, amountUnits } = known;
  if (isClosed(known))
    return known.blockHash == null && amountUnits === transfer.amountUnits ? amountUnits : 0n;
  const isHere = known.blockHash === block.hash;
  if (isHere && block.untraced && transfer.kind === 'native' && amountUnits >= transfer.amountUnits)
    return 0n;
  const counts = cameIn({ state, failureCode: failureCode ?? null, onChain: known.blockHash != null });
  return transfer.amountUnits - (known.blockHash == null || !counts ? 0n : amountUnits);
}

const isAt = (place: Place, row: { addressKey: string; currency: string }): boolean =>
  row.addressKey === place.addressKey && row.currency === place.currency;

/**
 * Deposits at a place that carry attributed money which nothing
 * proved, with how much of it each holds; the newest first.
 */
function attributedAt(place: Place, { evidence, known }: Facts): { deposit: Deposit; units: bigint }[] {
  const first = new Map<string, DepositAttribution>();
  for (const row of evidence)
    if (
      isAt(place, row) &&
      row.basis !== 'trace' &&
      (first.get(row.depositId)?.number ?? row.number) >= row.number
    )
      first.set(row.depositId, row);
  return [...first.values()]
    .toSorted((a, b) => b.at.getTime() - a.at.getTime() || (a.depositId < b.depositId ? -1 : 1))
    .flatMap((row) => {
      const deposit = known.get(row.depositId);
      return deposit ? [{ deposit, units: deposit.amountUnits - row.beforeUnits }] : [];
    });
}

type TakeOver = {
  readonly over: bigint;
  readonly attributed: readonly { deposit: Deposit; units: bigint }[];
};

async function takeOver(
  tx: Tx,
  deps: Deps,
  { headNumber }: Asked,
  { over, attributed }: TakeOver,
): Promise<bigint> {
  let left = over;
  for (const { deposit, units } of attributed) {
    if (left <= 0n) break;
    if (deposit.blockHash == null || deposit.provenUnits != null || units <= 0n || isClosed(deposit))
      continue;
    const taken = min(left, units);
    await lessen(tx, deps, { deposit, units: taken, headNumber });
    left -= taken;
  }
  return left;
}

async function setCovered(
  tx: Tx,
  deps: Deps,
  { network, block }: Asked,
  { one, cut }: { one: Transfer; cut: bigint },
): Promise<void> {
  const contract = one.kind === 'native' ? null : deps.settings.contracts[network];
  const transfers = [{ txHash: one.txHash, to: one.to, contract, amountUnits: cut, reason: COVERED }];
  await recordUnrecognised(tx.em, deps, { network, blockNumber: block.number, transfers });
  deps.log.error({ network, transactionHash: one.txHash, address: one.to, units: cut.toString() }, COVERED);
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
