import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { ScannedBlock } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import { NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { withdrawReplaced } from '../deposits/held.ts';
import type { Deps } from '../deps.ts';
import { verifySent } from '../payouts/sent.ts';
import { forgetAbsent } from '../uncredited/unrecognised.ts';
import type { WatchedChain } from './watched-chain.ts';

const KEPT =
  'a repeated read does not show a deposit that was read twice; it is kept, because no second endpoint says so: compare it with an explorer, and where it is not there, reject it with "deposit fail"';

type BoundDeposit = {
  readonly id: string;
  readonly transactionHash: string;
  readonly addressKey: AddressKey;
  readonly currency: string;
  readonly blockHash: string;
  readonly amountUnits: string;
  readonly verifiedAt: Date | string | null;
};

export type SecondRead = {
  readonly network: Network;
  readonly block: ScannedBlock;
  /**
   * Deposits whose amount a trace alone has shown: they
   * wait for the traces of two endpoints, or for a balance.
   */
  readonly unproven: ReadonlySet<string>;
  /**
   * Given when the block is repeated after its second read: those
   * of the deposits it verified that two RPC endpoints do not show.
   */
  readonly denied?: ReadonlySet<string> | undefined;
};

/**
 * Marks the deposits of a final block that its second read holds, and unbinds those that it
 * does not hold, each in one statement. A read without a trace proves only the amount that it
 * shows itself, and a repeated one withdraws nothing verified on the word of one endpoint.
 * Returns how many were unbound. What was recorded as uncredited and is not in it is forgotten.
 */
export async function markVerified(
  em: Em,
  deps: Deps,
  { network, block, unproven, denied }: SecondRead,
): Promise<number> {
  const bound = await boundIn(em, network, block.number);
  const { shownOf, isHeld } = readingOf(network, block);
  const isProven = (row: BoundDeposit): boolean =>
    !unproven.has(row.id) &&
    (!maySimplyNotShow(block, network, row) || (shownOf(row) ?? 0n) >= BigInt(row.amountUnits));
  const isKept = (row: BoundDeposit): boolean =>
    denied !== undefined && row.verifiedAt !== null && !denied.has(row.id);
  const [there, absent] = [
    bound.filter((row) => isHeld(row) && isProven(row)),
    bound.filter((row) => !isHeld(row)),
  ];
  const gone = absent.filter((row) => !isKept(row));
  for (const row of absent.filter(isKept)) deps.log.error({ depositId: row.id, block: block.number }, KEPT);
  const now = deps.now();
  if (there.length > 0) {
    await run(
      em,
      sql`with locked as (select id from deposits where id = any(${idsOf(there)}::uuid[])
          and block_hash = ${block.hash} and verified_at is null order by id for no key update)
        update deposits d set verified_at = ${now} from locked where d.id = locked.id`,
    );
  }
  if (gone.length > 0) await unbind(em, deps, block, gone);
  await forgetAbsent(em, deps, network, block);
  await verifySent(em, deps, { network, block, isRepeated: denied !== undefined });
  return gone.length;
}

async function boundIn(em: Em, network: Network, blockNumber: number): Promise<BoundDeposit[]> {
  return await rows(
    em,
    sql<BoundDeposit>`select id, transaction_hash, address_key, currency, block_hash,
       amount_units::text as amount_units, verified_at
       from deposits where network = ${network} and mode = 'live' and block_number = ${blockNumber}
         and block_hash is not null`,
  );
}

/** What one reading of a block says of deposits that are bound to it. */
function readingOf(network: Network, block: ScannedBlock) {
  const shown = new Map(
    block.transfers.map((transfer) => [
      `${transfer.txHash}:${addressKeyOf(network, transfer.to)}:${transfer.currency}`,
      transfer.amountUnits,
    ]),
  );
  const shownOf = (row: BoundDeposit): bigint | undefined =>
    shown.get(`${row.transactionHash}:${row.addressKey}:${row.currency}`);
  return {
    shownOf,
    isHeld: (row: BoundDeposit): boolean =>
      shownOf(row) !== undefined || maySimplyNotShow(block, network, row),
  };
}

/**
 * The verified deposits of a block that neither this repeated reading nor any RPC endpoint shows, provided
 * that at least two answer. Asks them only when the reading lacks one. Throws the reader's errors.
 */
export async function deniedByTwo(
  deps: Deps,
  { reader, watched }: Pick<WatchedChain, 'reader' | 'watched'>,
  block: ScannedBlock,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const { network } = reader;
  const bound = await boundIn(deps.orm.em.fork(), network, block.number);
  const lacking = bound.filter((row) => row.verifiedAt !== null && !readingOf(network, block).isHeld(row));
  if (lacking.length === 0) return new Set();
  const readings = (await reader.readings?.(block, watched.index, signal)) ?? [];
  const hosts = new Set(readings.map(({ host }) => host));
  const denied = lacking.filter(
    (row) => hosts.size > 1 && readings.every((one) => !readingOf(network, one.block).isHeld(row)),
  );
  return new Set(denied.map((row) => row.id));
}

async function unbind(em: Em, deps: Deps, block: ScannedBlock, gone: readonly BoundDeposit[]): Promise<void> {
  const ids = idsOf(gone);
  await run(
    em,
    sql`with locked as (select id from deposits where id = any(${ids}::uuid[]) order by id for no key update)
      update deposits d set block_hash = null, verified_at = null, updated_at = ${deps.now()}
      from locked where d.id = locked.id`,
  );
  await withdrawReplaced(em, deps, ids);
  for (const row of gone)
    deps.log.error(
      { depositId: row.id, block: block.number },
      'the final block does not hold a deposit that its first read showed',
    );
}

const idsOf = (deposits: readonly BoundDeposit[]): string[] => deposits.map(({ id }) => id);

/**
 * A read without a trace cannot deny what a trace, or the reconciliation, found in
 * the very same block: the hash says that the block is the same, its receipts that
 * the transaction succeeded, and what was passed on inside it is then the same too.
 */
function maySimplyNotShow(block: ScannedBlock, network: Network, row: BoundDeposit): boolean {
  if (!block.untraced || row.currency !== NATIVE_CURRENCY[network] || row.blockHash !== block.hash)
    return false;
  return block.untraced.succeeded.has(row.transactionHash);
}
