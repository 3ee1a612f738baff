import type { Balance } from '../../chain/port.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { assetKey, expectedUnits, NOTHING_EXPECTED, unitsOf } from './expected.ts';
import type { FollowedChain } from './follow.ts';
import { holdCursorAt, recordAgain } from './rescan.ts';

/** What a watcher remembers of blocks that hold an unproven amount: how often it tried, and when it tries again (milliseconds since 1970). */
export type ProofTries = Map<number, { readonly tries: number; readonly atMs: number }>;

const MAX_WAITING = 50;
const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 5 * 60_000;

type Waiting = { readonly id: string; readonly address_key: string; readonly block_hash: string; readonly block_number: string };
type Unproven = { readonly number: number; readonly hash: string; readonly rows: readonly Waiting[] };

/**
 * Looks for a proof of amounts of the native coin that the trace of one reading alone has shown, in blocks that were read twice: what the
 * balance rose by in that block, which most nodes tell for about a minute, else another trace of the block. Asks only for blocks that hold
 * such a deposit, and less and less often while neither can be had; the deposits wait meanwhile and nothing else does. Never throws for an
 * endpoint.
 */
export async function proveWaiting(deps: Deps, chain: FollowedChain, cursor: ChainCursor, signal: AbortSignal): Promise<void> {
  chain.proofs ??= new Map();
  const tries = chain.proofs;
  const nowMs = deps.now().getTime();
  const waiting = await waitingBlocks(deps, cursor);
  for (const number of tries.keys()) if (!waiting.some((block) => block.number === number)) tries.delete(number);
  for (const block of waiting) {
    const before = tries.get(block.number);
    if (before && nowMs < before.atMs) continue;
    const count = (before?.tries ?? 0) + 1;
    tries.set(block.number, { tries: count, atMs: nowMs + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 10)) });
    try {
      if (!(await proveByBalance(deps, chain, block, signal))) await proveByTrace(deps, chain, block, signal);
    } catch (error) {
      signal.throwIfAborted();
      deps.log.debug({ err: error, network: cursor.network, block: block.number }, 'the amounts of a block could not be proven yet');
    }
  }
}

async function waitingBlocks(deps: Deps, { network, verifiedNumber }: ChainCursor): Promise<Unproven[]> {
  const rows = await deps.orm.em.fork().execute<Waiting[]>(
    `select id, address_key, block_hash, block_number::text as block_number from deposits
     where network = ? and mode = 'live' and currency <> 'USDT' and verified_at is null and block_hash is not null
       and status in ('detected', 'confirming') and block_number <= ? order by block_number limit ${MAX_WAITING}`,
    [network, verifiedNumber],
  );
  const blocks = Map.groupBy(rows, (row) => `${row.block_number}:${row.block_hash}`);
  return [...blocks.values()].flatMap((ofOne) => {
    const [first] = ofOne;
    return first ? [{ number: Number.parseInt(first.block_number, 10), hash: first.block_hash, rows: ofOne }] : [];
  });
}

/** True where every deposit of the block that waits is proven by what the balances rose by in it. */
async function proveByBalance(deps: Deps, { reader }: FollowedChain, block: Unproven, signal: AbortSignal): Promise<boolean> {
  const { network } = reader;
  const currency = NATIVE_CURRENCY[network];
  const keys = [...new Set(block.rows.map((row) => row.address_key))];
  const addresses = keys.map((key) => `0x${key}`);
  const after = await reader.balances?.(addresses, block.number, signal);
  const before = after && (await reader.balances?.(addresses, block.number - 1, signal));
  if (!after || !before) return false;
  const rises = new Map(keys.map((key, index) => [key, riseOf(before[index], after[index], network, currency)]));
  return await transact(deps, async ({ em }) => {
    await holdCursorAt(em, reader, block);
    const [until, of] = [
      await expectedUnits(deps, em, { network, addressKeys: keys, blockNumber: block.number - 1 }),
      await expectedUnits(deps, em, { network, addressKeys: keys, blockNumber: block.number }),
    ];
    const recorded = (key: string): bigint =>
      (of.get(assetKey(key, currency)) ?? NOTHING_EXPECTED).boundUnits -
      (until.get(assetKey(key, currency)) ?? NOTHING_EXPECTED).boundUnits;
    const proven = block.rows.filter((row) => rises.get(row.address_key) === recorded(row.address_key));
    await em.execute(
      `update deposits set verified_at = ? where id = any(string_to_array(?, ',')::uuid[]) and block_hash = ? and verified_at is null`,
      [deps.now(), proven.map((row) => row.id).join(','), block.hash],
    );
    return proven.length === block.rows.length;
  });
}

function riseOf(before: Balance | undefined, after: Balance | undefined, network: Network, currency: Currency): bigint | undefined {
  return before && after && unitsOf(after, network, currency) - unitsOf(before, network, currency);
}

/** Reads the block once more: a trace that shows the same amounts as the one before is the second one. */
async function proveByTrace(deps: Deps, { reader, watched }: FollowedChain, block: Unproven, signal: AbortSignal): Promise<void> {
  const again = await reader.scan(block.number, watched.index, signal);
  if (again?.hash === block.hash && !again.untraced) await recordAgain(deps, reader, again);
}
