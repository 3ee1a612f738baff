import { LockMode } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf, spelledAddress } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { Deposit, DepositAddress, DepositAttribution } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import { idOfTransfer } from '../deposits/identity.ts';
import type { Deps } from '../deps.ts';
import { lockPayers } from '../payment-links/money.ts';
import type { Tx } from '../transact.ts';
import { isClosed, lessen } from './attributed.ts';
import { COVERED } from './expected-balances.ts';
import { type Asked, asideOf, type Facts, type Known, withinRoom } from './room.ts';

/** What of a block may be recorded, and what counts as shown by it. */
export type Allowed = { readonly record: ScannedBlock; readonly shown: ScannedBlock };

/**
 * Until the caller's transaction ends, no other claim, search or repeated read adds to the
 * deposits of these addresses. Locks their customers too: after the cursor and before any deposit.
 */
export async function lockAddresses(
  em: Em,
  network: Network,
  addressKeys: readonly AddressKey[],
): Promise<void> {
  if (addressKeys.length === 0) return;
  await run(
    em,
    sql`
      select 1 from deposit_addresses
      where network = ${network} and address_key = any(${[...new Set(addressKeys)]})
      order by address_key for no key update`,
  );
  const owners = await em.find(DepositAddress, {
    network,
    addressKey: { $in: [...addressKeys] },
    mode: 'live',
  });
  await lockPayers(em, [...new Set(owners.map((owner) => owner.customerId))]);
}

/**
 * Compares a repeated read of a block with what was attributed before without being shown. An
 * amount that the read proves wins while the deposit is not completed; afterwards it is noted
 * beside the amount. What was attributed can have been the money of a transfer that is shown
 * only now: such a transfer takes it over from a deposit that is not completed, else it is
 * uncredited (credited already). So the sum that is credited never exceeds what the chain said
 * had arrived. Locks the addresses, and if something was attributed also customers and deposits.
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
    sql`
      delete from unrecognised_transfers
      where network = ${network} and block_number = ${block.number} and reason = ${COVERED}`,
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
      select d.address_key from deposits d
      where d.network = ${network} and d.block_number = ${block.number} and d.block_hash = ${block.hash}
        and exists (select 1 from deposit_attributions a where a.deposit_id = d.id)`,
  );
}

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
