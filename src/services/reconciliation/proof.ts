import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { Balance } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, run, sql } from '../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { WAITING_STATES } from '../../domain/deposit.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { holdCursorAt, recordAgain } from '../watcher/rescan.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { assetKey, expectedUnits, NOTHING_EXPECTED, unitsOf } from './expected-balances.ts';

const MAX_WAITING = 1_000;
/**
 * One run ends after this time: however many payers pay by contracts,
 * and however slow a node is with old balances, new blocks come first.
 */
const LOOK_SHARE_MS = 500;
/** And one block is given up for now when its traces take longer than this. */
const TRACE_SHARE_MS = 3_000;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 5 * 60_000;

type Waiting = {
  readonly id: string;
  readonly transactionHash: string;
  readonly addressKey: AddressKey;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly amountUnits: string;
};
type Unproven = { readonly number: number; readonly hash: string; readonly rows: readonly Waiting[] };

/**
 * Looks for a proof of amounts of the native coin that the trace of one reading alone has
 * shown, in blocks that were read twice: by how much the balance rose in that block, which
 * most nodes tell for about a minute, else another trace of the block. Asks only for
 * blocks that hold such a deposit, and less and less often while neither can be had; the
 * deposits wait meanwhile and nothing else does. Never throws because of an RPC endpoint.
 */
export async function proveWaiting(
  deps: Deps,
  chain: WatchedChain,
  cursor: ChainCursor,
  signal: AbortSignal,
): Promise<void> {
  chain.proofs ??= new Map();
  const tries = chain.proofs;
  const nowMs = deps.now().getTime();
  const waiting = await waitingBlocks(deps, cursor);
  for (const number of tries.keys())
    if (!waiting.some((block) => block.number === number)) tries.delete(number);
  for (const block of waiting) {
    if (deps.now().getTime() - nowMs > LOOK_SHARE_MS) return;
    const before = tries.get(block.number);
    if (before && nowMs < before.atMs) continue;
    const count = (before?.tries ?? 0) + 1;
    tries.set(block.number, {
      tries: count,
      atMs: nowMs + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 10)),
    });
    try {
      const { proven, denied } = await proveByBalance(deps, chain, block, signal);
      if (!proven) await proveByTrace(deps, chain, { block, denied }, signal);
    } catch (error) {
      signal.throwIfAborted();
      deps.log.debug(
        { err: error, network: cursor.network, block: block.number },
        'the amounts of a block could not be proven yet',
      );
    }
  }
}

async function waitingBlocks(deps: Deps, { network, verifiedNumber }: ChainCursor): Promise<Unproven[]> {
  const waiting = await rows(
    deps.orm.em.fork(),
    sql<Waiting>`
      select id, transaction_hash, address_key, block_hash, block_number::text as block_number,
        amount_units::text as amount_units
      from deposits where network = ${network} and mode = 'live' and currency <> 'USDT'
        and verified_at is null and block_hash is not null
        and status in ${literals(WAITING_STATES)} and block_number <= ${verifiedNumber}
          order by deposits.block_number limit ${MAX_WAITING}`,
  );
  const blocks = Map.groupBy(waiting, (row) => `${row.blockNumber}:${row.blockHash}`);
  return [...blocks.values()].flatMap((ofOne) => {
    const [first] = ofOne;
    return first
      ? [{ number: Number.parseInt(first.blockNumber, 10), hash: first.blockHash, rows: ofOne }]
      : [];
  });
}

/**
 * `proven`: whether all waiting deposits of the block are proven. `denied`:
 * the ids of those on addresses that received less in it than is recorded.
 */
type ByBalance = { readonly proven: boolean; readonly denied: ReadonlySet<string> };

/** Proves deposits by how much the balances rose in their block. */
async function proveByBalance(
  deps: Deps,
  { reader }: WatchedChain,
  block: Unproven,
  signal: AbortSignal,
): Promise<ByBalance> {
  const { network } = reader;
  const currency = NATIVE_CURRENCY[network];
  const keys = [...new Set(block.rows.map((row) => row.addressKey))];
  const after = await reader.balances?.(keys, block.number, signal);
  const before = after && (await reader.balances?.(keys, block.number - 1, signal));
  if (!after || !before) return { proven: false, denied: new Set() };
  const rises = new Map(
    keys.map((key, index) => [key, riseOf(before[index], after[index], network, currency)]),
  );
  return await transact(deps, async ({ em }) => {
    await holdCursorAt(em, reader, block);
    const [until, of] = [
      await expectedUnits(em, deps, { network, addressKeys: keys, blockNumber: block.number - 1 }),
      await expectedUnits(em, deps, { network, addressKeys: keys, blockNumber: block.number }),
    ];
    const recorded = (key: AddressKey): bigint =>
      (of.get(assetKey(key, currency)) ?? NOTHING_EXPECTED).boundUnits -
      (until.get(assetKey(key, currency)) ?? NOTHING_EXPECTED).boundUnits;
    const proven = block.rows.filter((row) => rises.get(row.addressKey) === recorded(row.addressKey));
    // A deposit that is corrected at this very moment was not part of the sum.
    await markProven(em, deps, block, proven);
    const less = block.rows.filter((row) => (rises.get(row.addressKey) ?? 0n) < recorded(row.addressKey));
    return { proven: proven.length === block.rows.length, denied: new Set(less.map((row) => row.id)) };
  });
}

function riseOf(
  before: Balance | undefined,
  after: Balance | undefined,
  network: Network,
  currency: Currency,
): bigint | undefined {
  return before && after && unitsOf(after, network, currency) - unitsOf(before, network, currency);
}

/**
 * Reads the block once more, which corrects its amounts as far as one trace does, and has every
 * RPC endpoint trace the transactions: when two of them show the same, that is the proof,
 * unless a balance contradicts it. However often one endpoint says the same, it counts as one.
 */
async function proveByTrace(
  deps: Deps,
  { reader, watched }: WatchedChain,
  { block, denied }: { readonly block: Unproven; readonly denied: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<void> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TRACE_SHARE_MS)]);
  const again = await reader.scan(block.number, watched.index, limited);
  if (again?.hash === block.hash && !again.untraced) await recordAgain(deps, reader, again);
  if (reader.endpoints < 2) return;
  const waiting = Map.groupBy(
    block.rows.filter((row) => !denied.has(row.id)),
    (row) => row.transactionHash,
  );
  for (const [txHash, ofOne] of waiting) {
    const traced = await reader.traceTransaction?.(block, txHash, watched.index, limited);
    if (!traced?.agreed || new Set(traced.hosts).size < 2) continue;
    const shown = new Map(
      traced.transfers
        .filter(({ kind }) => kind === 'native')
        .map(({ to, amountUnits }) => [addressKeyOf(reader.network, to), amountUnits]),
    );
    const proven = ofOne.flatMap(({ id, addressKey: key }) =>
      shown.has(key) ? [{ id, amountUnits: `${shown.get(key)}` }] : [],
    );
    await markProven(deps.orm.em.fork(), deps, block, proven);
  }
}

/**
 * Marks those of them that have this amount and are bound to this
 * block: if a read corrects one at this very moment, this waits for it.
 */
async function markProven(
  em: Em,
  deps: Deps,
  block: Unproven,
  proven: readonly Pick<Waiting, 'id' | 'amountUnits'>[],
): Promise<void> {
  if (proven.length === 0) return;
  await run(
    em,
    sql`update deposits d set verified_at = ${deps.now()}
     from jsonb_to_recordset(${JSON.stringify(proven)}::jsonb) as p (id uuid, "amountUnits" numeric)
     where d.id = p.id and d.amount_units = p."amountUnits" and d.block_hash = ${block.hash}
       and d.verified_at is null`,
  );
}
