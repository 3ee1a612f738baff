import { pause } from '../../base/async/pause.ts';
import { BEFORE_ALL_KEYS } from '../../chains/address-key.ts';
import { BalanceDifference, type ChainCursor, DepositAddress } from '../../db/entities/index.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { readCursor } from '../watcher/cursor.ts';
import type { WatchedChain } from '../watcher/watched-chain.ts';
import { assetKey, comparedAssets, expectedUnits, NOTHING_EXPECTED, unitsOf } from './expected-balances.ts';

/** Final blocks that the watcher has not read twice, both ends included. */
export type UnscannedBlocks = { readonly from: number; readonly to: number };

/**
 * A balance at the end of the unscanned blocks that neither
 * the ledger nor a difference that is known already explains.
 */
export type UnscannedDifference = {
  readonly network: Network;
  readonly address: string;
  readonly currency: Currency;
  readonly differenceUnits: bigint;
};

const BATCH_ADDRESSES = 200;
/**
 * A running watcher notes itself every three seconds, and
 * reads what is final well within the rest of this time.
 */
const ALIVE_WITHIN_MS = 15_000;
const WAIT_MS = 20_000;
const POLL_MS = 250;

/**
 * The blocks that are final and were not read, after a running watcher had time
 * to read them; undefined when there are none. Throws the reader's errors.
 */
export async function unscannedBlocks(
  deps: Deps,
  { reader }: WatchedChain,
  options: { readonly signal: AbortSignal; readonly waitMs?: number },
): Promise<UnscannedBlocks | undefined> {
  const final = await reader.finalized(options.signal);
  const until = performance.now() + (options.waitMs ?? WAIT_MS);
  let cursor = await readCursor(deps, reader.network);
  while (
    cursor &&
    cursor.verifiedNumber < final.number &&
    isAlive(deps, cursor) &&
    performance.now() < until
  ) {
    await pause(POLL_MS, options.signal);
    cursor = await readCursor(deps, reader.network);
  }
  if (!cursor || cursor.verifiedNumber >= final.number) return undefined;
  return { from: cursor.verifiedNumber + 1, to: final.number };
}

/** Whether a watcher reads the chain now; true where none ever did, which is another thing to say. */
export async function isFollowed(deps: Deps, network: Network): Promise<boolean> {
  const cursor = await readCursor(deps, network);
  return cursor === null || isAlive(deps, cursor);
}

function isAlive(deps: Deps, cursor: ChainCursor): boolean {
  return deps.now().getTime() - cursor.polledAt.getTime() < ALIVE_WITHIN_MS;
}

/**
 * Compares every balance at the end of the unscanned blocks with the ledger. Nothing
 * is kept: once the blocks are read, most of it is a deposit like any other. Throws
 * the reader's errors, and an error when no RPC endpoint tells balances.
 */
export async function compareUnscanned(
  deps: Deps,
  { reader }: WatchedChain,
  options: {
    readonly blocks: UnscannedBlocks;
    readonly signal: AbortSignal;
    readonly progress: (checked: number, total: number) => void;
  },
): Promise<UnscannedDifference[]> {
  const { network, balances } = reader;
  const { signal, blocks } = options;
  const found: UnscannedDifference[] = [];
  const total = await deps.orm.em.fork().count(DepositAddress, { network });
  let position = BEFORE_ALL_KEYS;
  for (let checked = 0; ; ) {
    signal.throwIfAborted();
    const em = deps.orm.em.fork();
    const where = { network, addressKey: { $gt: position } };
    const addresses = await em.find(DepositAddress, where, {
      orderBy: { addressKey: 'asc' },
      limit: BATCH_ADDRESSES,
    });
    const addressKeys = addresses.map((row) => row.addressKey);
    if (addresses.length === 0) return found;
    const lying = await balances?.(addressKeys, blocks.to, signal);
    if (!lying) throw new Error(`no endpoint of ${network} tells balances at block ${blocks.to}`);
    const expected = await expectedUnits(em, deps, { network, addressKeys, blockNumber: blocks.to });
    const kept = await em.find(BalanceDifference, { network, addressKey: { $in: addressKeys } });
    const known = new Map(
      kept.map((row) => [assetKey(row.addressKey, row.currency), row.differenceUnits - row.replacedUnits]),
    );
    for (const [index, { address, addressKey }] of addresses.entries()) {
      for (const currency of comparedAssets(network)) {
        const key = assetKey(addressKey, currency);
        const balance = lying[index];
        if (!balance) throw new Error('a balance is missing');
        const { boundUnits, replacedUnits } = expected.get(key) ?? NOTHING_EXPECTED;
        const differenceUnits =
          unitsOf(balance, network, currency) - boundUnits - replacedUnits - (known.get(key) ?? 0n);
        if (differenceUnits !== 0n) found.push({ network, address, currency, differenceUnits });
      }
    }
    checked += addresses.length;
    options.progress(checked, Math.max(total, checked));
    position = addressKeys.at(-1) ?? position;
  }
}
