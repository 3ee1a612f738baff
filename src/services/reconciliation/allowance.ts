import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, spelledAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { Deposit, DepositAddress, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { accountOf } from '../../domain/ledger.ts';
import { depositIdOf, idOfTransfer } from '../deposits/identity.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import type { Tx } from '../transact.ts';
import { recordUnrecognised } from '../uncredited/unrecognised.ts';
import { lessen } from './attributed.ts';
import { assetKey, boundUnits, COVERED, type Place } from './expected-balances.ts';

/** What of a block may be recorded, and what counts as shown by it. */
export type Allowed = { readonly record: ScannedBlock; readonly shown: ScannedBlock };

type Asked = {
  readonly network: Network;
  readonly block: ScannedBlock;
  readonly headNumber: number;
  /** Where a transfer's amount, or its absence, is the whole truth about this deposit. */
  readonly isWhole: (deposit: Deposit) => boolean;
  /** Further balances that bound what may be credited. */
  readonly bounds?: readonly (Place & Bound)[];
};

/**
 * Until the caller's transaction ends, nobody else adds to the deposits of these addresses by a claim,
 * a search or a repeated read. Locks their customers too: after the cursor and before any deposit.
 */
export async function lockAddresses(
  em: Em,
  network: Network,
  addressKeys: readonly AddressKey[],
): Promise<void> {
  if (addressKeys.length === 0) return;
  await run(
    em,
    sql`select 1 from deposit_addresses
     where network = ${network} and address_key = any(${[...new Set(addressKeys)]}) order by address_key
       for no key update`,
  );
  const owners = await em.find(DepositAddress, {
    network,
    addressKey: { $in: [...addressKeys] },
    mode: 'live',
  });
  await lockPayers(em, [...new Set(owners.map((owner) => owner.customerId))]);
}

/**
 * Holds a repeated read of a block against what was attributed before without being shown. An
 * amount that the read proves wins while the deposit is not completed; afterwards it is noted
 * beside the amount. What was attributed can have been the money of a transfer that is shown
 * only now: such a transfer takes it over from a deposit that is not completed, else it is
 * uncredited (credited already). So the sum that is credited never exceeds what the chain said
 * had arrived. Locks the addresses, and where something was attributed customers and deposits.
 */
export async function allowanceOf(tx: Tx, deps: Deps, asked: Asked): Promise<Allowed> {
  const { em } = tx;
  const { network, block } = asked;
  const here = await attributedIn(em, network, block);
  const keys = [
    ...new Set([
      ...here.map((row) => row.addressKey),
      ...block.transfers.map((transfer) => addressKeyOf(network, transfer.to)),
    ]),
  ];
  await lockAddresses(em, network, keys);
  const evidence =
    keys.length === 0 ? [] : await em.find(DepositAttribution, { network, addressKey: { $in: keys } });
  if (evidence.length === 0 && !asked.bounds) return { record: block, shown: block };
  const known = await lockDeposits(em, network, block, evidence);
  const aside = await asideOf(em, deps, asked);
  await run(
    em,
    sql`delete from unrecognised_transfers where network = ${network} and block_number = ${block.number}
      and reason = ${COVERED}`,
  );
  const { record, shown } = await prove(tx, deps, asked, { evidence, known });
  return {
    record: {
      ...block,
      transfers: await withinRoom(tx, deps, asked, { transfers: record, evidence, known, aside }),
    },
    shown,
  };
}

async function attributedIn(
  em: Em,
  network: Network,
  block: ScannedBlock,
): Promise<{ addressKey: AddressKey }[]> {
  return await rows(
    em,
    sql<{ addressKey: AddressKey }>`
      select d.address_key from deposits d where d.network = ${network} and d.block_number = ${block.number}
        and d.block_hash = ${block.hash}
        and exists (select 1 from deposit_attributions a where a.deposit_id = d.id)`,
  );
}

type Known = ReadonlyMap<string, Deposit>;

async function lockDeposits(
  em: Em,
  network: Network,
  block: ScannedBlock,
  evidence: readonly DepositAttribution[],
): Promise<Known> {
  const ids = [
    ...evidence.map((row) => row.depositId),
    ...block.transfers.map((transfer) => idOfTransfer(network, transfer)),
  ];
  const options = { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE } as const;
  const locked = await em.find(Deposit, { id: { $in: [...new Set(ids)] } }, options);
  return new Map(locked.map((row) => [row.id, row]));
}

type Facts = { readonly evidence: readonly DepositAttribution[]; readonly known: Known };

/** Notes what this read proves of deposits that were attributed to its transactions. */
async function prove(tx: Tx, deps: Deps, asked: Asked, { evidence, known }: Facts) {
  const { network, block } = asked;
  const attributed = new Set(evidence.map((row) => row.depositId));
  const closed = new Set<string>();
  const unshown: Transfer[] = [];
  for (const deposit of known.values()) {
    if (!attributed.has(deposit.id) || deposit.blockHash !== block.hash || !asked.isWhole(deposit)) continue;
    const transfer = block.transfers.find((one) => idOfTransfer(network, one) === deposit.id);
    deposit.provenUnits = transfer?.amountUnits ?? 0n;
    if (deposit.provenUnits === deposit.amountUnits) continue;
    const facts = {
      depositId: deposit.id,
      credited: deposit.amountUnits.toString(),
      proven: deposit.provenUnits.toString(),
    };
    deps.log.error(
      facts,
      'a read shows another amount than the one that was attributed to a transaction; see "reconcile"',
    );
    if (isClosed(deposit)) closed.add(deposit.id);
    if (transfer) continue;
    if (isClosed(deposit)) unshown.push(asTransfer(deposit));
    else await lessen(tx, deps, { deposit, units: deposit.amountUnits, headNumber: asked.headNumber });
  }
  await tx.em.flush();
  return {
    record: block.transfers.filter((transfer) => !closed.has(idOfTransfer(network, transfer))),
    shown: { ...block, transfers: [...block.transfers, ...unshown] },
  };
}

/** Money that was credited is never rewritten. */
export function isClosed({ status }: Deposit): boolean {
  return status === 'completed' || status === 'settled';
}

function asTransfer(deposit: Deposit): Transfer {
  const { network, transactionHash: txHash, addressKey, currency, amountUnits } = deposit;
  return {
    txHash,
    to: spelledAddress(network, addressKey),
    from: null,
    currency,
    kind: 'native',
    amountUnits,
  };
}

type Recording = Facts & { readonly transfers: readonly Transfer[]; readonly aside: Aside };

/**
 * What was recorded as uncredited of a block in our own assets, by
 * the deposit that it would be: it is counted on its address already.
 */
type Aside = ReadonlyMap<string, bigint>;

async function asideOf(em: Em, deps: Deps, { network, block }: Asked): Promise<Aside> {
  const found = await rows(
    em,
    sql<{ transactionHash: string; addressKey: AddressKey; native: boolean; units: string }>`
      select transaction_hash, address_key, contract_address = '' as native, amount_units::text as units
        from unrecognised_transfers
      where network = ${network} and block_number = ${block.number} and transaction_hash <> ''
        and amount_units is not null
        and reason <> ${COVERED} and (contract_address = ''
        or lower(contract_address) = ${deps.settings.contracts[network].toLowerCase()})`,
  );
  return new Map(
    found.map(({ transactionHash, addressKey, native, units }) => {
      const currency = native ? NATIVE_CURRENCY[network] : 'USDT';
      return [depositIdOf({ mode: 'live', network, transactionHash, addressKey, currency }), BigInt(units)];
    }),
  );
}

/** The transfers, each with as much as the address has room for by what is known to have arrived there. */
async function withinRoom(
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

/** By how much recording a transfer raises what is bound to blocks. */
function addedBy({ block }: Asked, transfer: Transfer, known: Deposit | undefined): bigint {
  if (!known) return transfer.amountUnits;
  const { status: state, failureCode, amountUnits } = known;
  if (isClosed(known))
    return known.blockHash == null && amountUnits === transfer.amountUnits ? amountUnits : 0n;
  const isHere = known.blockHash === block.hash;
  if (isHere && block.untraced && transfer.kind === 'native' && amountUnits >= transfer.amountUnits)
    return 0n;
  const home = accountOf({ state, failureCode: failureCode ?? null, onChain: known.blockHash != null });
  return transfer.amountUnits - (known.blockHash == null || home === 'chain' ? 0n : amountUnits);
}

const isAt = (place: Place, row: { addressKey: string; currency: string }): boolean =>
  row.addressKey === place.addressKey && row.currency === place.currency;

/** By `foundNumber`, `arrivedUnits` had come to a place, whatever became of them. */
export type Bound = Pick<DepositAttribution, 'foundNumber' | 'arrivedUnits'>;

/**
 * How much more may be bound at a place, by each balance
 * that was ever held against it; undefined where none was.
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
