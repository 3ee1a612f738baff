import type { ScannedBlock } from '../../chains/reader.ts';
import { type ChainCursor, Deposit } from '../../db/entities/index.ts';
import { run, sql } from '../../db/sql.ts';
import type { ChainPart } from '../../domain/chain-stop.ts';
import type { Deps } from '../deps.ts';
import { recordSent } from '../payouts/sent.ts';
import { type Tx, transact } from '../transact.ts';
import { pricesFor, recordTransfers } from './record-transfers.ts';

/**
 * The database refuses what a block would write. The message names
 * block, transaction or deposit, and the rule that was broken.
 */
export class BlockRefused extends Error {
  override readonly name = 'BlockRefused';
  readonly action =
    'correct what the reason names ("deposit show" and "deposit fail" where it is a deposit) and report it: the rest of the chain waits behind this block, and goes on by itself';
}

/**
 * How many deposits and transfers are tried one by one: a block that holds more is named without its culprit.
 */
const MAX_TRIED = 300;
/**
 * Errors that PostgreSQL reports about itself, a lock or a
 * limit, and not about the row: they pass by themselves.
 */
const PASSING = /^(08|25P|40|53|55|57|58)/;

type Refusal = Error & {
  readonly code: string;
  readonly constraint?: string;
  readonly table?: string;
  readonly column?: string;
};
/** What is written: some blocks, or everything that is left from a height on. */
type At = {
  readonly cursor: ChainCursor;
  readonly part: ChainPart;
  readonly blocks?: readonly ScannedBlock[];
  readonly from?: number;
};

/**
 * Commits a block. When the database refuses it, each of its transfers, sendings and deposits is
 * tried alone, in a transaction that is always rolled back, so that the error can name
 * the one that stops the chain: throws {@link BlockRefused}. Passes every other error on.
 */
export async function orNameCulprit<T>(
  deps: Deps,
  { cursor, part, blocks = [], from }: At,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const rule = ruleOf(error);
    const known = cursor.stops[part]?.reason;
    const first = from ?? blocks[0]?.number ?? cursor.scannedNumber;
    const last = from === undefined ? blocks.at(-1)?.number : cursor.scannedNumber;
    const place = `${last === undefined || last === first ? `block ${first}` : `blocks ${first} to ${last}`} of ${cursor.network}`;
    if (known?.startsWith(place) && known.endsWith(rule)) throw new BlockRefused(known, { cause: error });
    const culprit =
      (await refusedTransfer(deps, cursor, blocks)) ??
      (await refusedSending(deps, cursor, blocks)) ??
      (await refusedDeposit(deps, cursor, { from: first, to: last }));
    throw new BlockRefused(`${place} cannot be written${culprit ? `: ${culprit}` : ''}: ${rule}`, {
      cause: error,
    });
  }
}

function isRefusal(error: unknown): error is Refusal {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false;
  return /^[0-9A-Z]{5}$/.test(error.code) && !PASSING.test(error.code);
}

function ruleOf(error: Refusal): string {
  // The driver puts the statement before what PostgreSQL said.
  const said = (error.message.split('\n').at(0) ?? '').split(' - ').at(-1) ?? '';
  return [said, error.constraint && `rule ${error.constraint}`, error.table && `table ${error.table}`]
    .filter(Boolean)
    .join(', ');
}

/** Whether the database refuses `work` taken alone; whatever it writes is rolled back. */
async function isRefused(deps: Deps, work: (tx: Tx) => Promise<unknown>): Promise<boolean> {
  const done = new Error('tried');
  try {
    await transact(deps, async (tx) => {
      await work(tx);
      throw done;
    });
    return false;
  } catch (error) {
    return isRefusal(error);
  }
}

async function refusedTransfer(
  deps: Deps,
  { network, headNumber }: ChainCursor,
  blocks: readonly ScannedBlock[],
): Promise<string | undefined> {
  const prices = await pricesFor(
    deps,
    blocks.flatMap(({ transfers }) => transfers),
  );
  const tried = blocks
    .flatMap((block) => block.transfers.map((transfer) => ({ block, transfer })))
    .slice(0, MAX_TRIED);
  for (const { block, transfer } of tried) {
    const { sent: _sent, ...received } = block;
    const alone = { ...received, transfers: [transfer], unrecognised: [], unrecognisedDropped: 0 };
    if (
      await isRefused(deps, (tx) => recordTransfers(tx, deps, { network, block: alone, prices, headNumber }))
    )
      return `transaction ${transfer.txHash} in block ${block.number} to ${transfer.to}`;
  }
  return undefined;
}

async function refusedSending(
  deps: Deps,
  { network }: ChainCursor,
  blocks: readonly ScannedBlock[],
): Promise<string | undefined> {
  const tried = blocks
    .flatMap((block) => (block.sent ?? []).map((one) => ({ one, block: { ...block, sent: [one] } })))
    .slice(0, MAX_TRIED);
  for (const { one, block } of tried)
    if (await isRefused(deps, ({ em }) => recordSent(em, deps, { network, block })))
      return `transaction ${one.txHash} in block ${block.number} from our wallet ${one.from}`;
  return undefined;
}

async function refusedDeposit(
  deps: Deps,
  { network }: ChainCursor,
  at: { from: number; to: number | undefined },
): Promise<string | undefined> {
  const blockNumber = { $gte: at.from, ...(at.to === undefined ? {} : { $lte: at.to }) };
  const where = { network, mode: 'live' as const, blockNumber, blockHash: { $ne: null } };
  const bound = await deps.orm.em
    .fork()
    .find(Deposit, where, { orderBy: { blockNumber: 'asc', id: 'asc' }, limit: MAX_TRIED });
  const changes = [sql`verified_at = now()`, sql`verified_at = null, block_hash = null`];
  for (const { id, transactionHash, address } of bound)
    for (const change of changes)
      if (await isRefused(deps, ({ em }) => run(em, sql`update deposits set ${change} where id = ${id}`)))
        return `deposit ${id} of transaction ${transactionHash} to ${address}`;
  return undefined;
}
