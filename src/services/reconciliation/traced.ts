import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock, Transfer } from '../../chains/reader.ts';
import { Deposit } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { DecisionRefused } from '../deposits/decisions.ts';
import type { Deps } from '../deps.ts';
import { type Tx, transact } from '../transact.ts';
import { pricesFor, recordTransfers } from '../watcher/record-transfers.ts';
import { holdCursorAt } from '../watcher/rescan.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { allowanceOf } from './allowance.ts';
import type { Place } from './place.ts';
import { type Decider, keepReason } from './reason.ts';
import type { Bound } from './room.ts';

export type TracedAttribution = {
  readonly block: ScannedBlock;
  readonly txHash: string;
  /** Everything that the transaction brought, by currency and address. */
  readonly transfers: readonly Transfer[];
  /** Limits on what may be credited, from the balances of the addresses. */
  readonly bounds: readonly (Place & Bound)[];
  readonly decider?: Decider | undefined;
};

/**
 * Records what the trace of one transaction shows, as a read of the whole block with
 * its trace would have; see {@link allowanceOf} for what was attributed before.
 * Returns how many deposits are new. Throws {@link DecisionRefused} when the
 * balances have no room for it, and `RescanStopped` when the block was replaced.
 */
export async function recordTraced(
  deps: Deps,
  { reader }: WatchedChain,
  traced: TracedAttribution,
): Promise<number> {
  const { network } = reader;
  const prices = await pricesFor(deps, traced.transfers);
  const { untraced: _, ...rest } = traced.block;
  const block: ScannedBlock = { ...rest, transfers: traced.transfers };
  return await transact(deps, async (tx) => {
    const cursor = await holdCursorAt(tx.em, reader, block);
    const { headNumber } = cursor;
    const before = await amountsOf(tx.em, network, traced.txHash);
    const isWhole = (deposit: Deposit): boolean => deposit.transactionHash === traced.txHash;
    const { record } = await allowanceOf(tx, deps, {
      network,
      block,
      headNumber,
      isWhole,
      bounds: traced.bounds,
    });
    if (
      record.transfers.length < traced.transfers.length ||
      record.transfers.some((one) => !traced.transfers.includes(one))
    )
      throw new DecisionRefused(
        `the trace of transaction ${traced.txHash} shows more than the balance of the address has room for; compare both with an explorer, and with "deposit show" of what is recorded`,
      );
    const { created } = await recordTransfers(tx, deps, {
      network,
      block: record,
      prices,
      headNumber,
      again: true,
      claimed: traced.txHash,
    });
    await keepTraced(tx, deps, { network, before, traced });
    return created;
  });
}

async function amountsOf(
  em: Em,
  network: Place['network'],
  transactionHash: string,
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await em.find(Deposit, { mode: 'live', network, transactionHash });
  return new Map(rows.map((row) => [row.id, row.blockHash == null ? 0n : row.amountUnits]));
}

type Kept = {
  readonly network: Place['network'];
  readonly before: ReadonlyMap<string, bigint>;
  readonly traced: TracedAttribution;
};

async function keepTraced({ em }: Tx, deps: Deps, { network, before, traced }: Kept): Promise<void> {
  const { txHash, block, decider } = traced;
  const bound = { mode: 'live', network, transactionHash: txHash, blockHash: block.hash } as const;
  for (const deposit of await em.find(Deposit, bound, { refresh: true })) {
    const { id, addressKey, currency, amountUnits } = deposit;
    const shown = traced.transfers.find(
      (one) => addressKeyOf(network, one.to) === addressKey && one.currency === currency,
    );
    if (shown?.amountUnits !== amountUnits) continue;
    deposit.provenUnits = amountUnits;
    deposit.verifiedAt ??= deps.now();
    const beforeUnits = before.get(id) ?? 0n;
    if (beforeUnits === amountUnits) continue;
    const place = { network, addressKey, currency };
    const facts = { beforeUnits, carriedUnits: amountUnits, foundNumber: null, arrivedUnits: null };
    await keepReason(em, deps, { ...facts, place, txHash, basis: 'trace', decider });
  }
  await em.flush();
}
