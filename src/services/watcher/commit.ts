import type { ScannedBlock } from '../../chains/reader.ts';
import type { ChainCursor } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { wakeForBlocks } from '../payouts/wakes.ts';
import { transact } from '../transact.ts';
import { adriftOn } from './adrift.ts';
import { type Anchor, moveCursor } from './cursor.ts';
import { pricesFor, recordTransfers } from './record-transfers.ts';
import { markVerified } from './verify.ts';

/**
 * What one poll knows of the chain; `anchored` when the kept
 * chain was found to run through a block that is final.
 */
export type ChainHeights = {
  readonly headNumber: number;
  readonly finalizedNumber: number;
  readonly anchored?: Anchor | undefined;
};
export type Commit = { readonly created: number; readonly foundLate: number; readonly withdrawn: number };

/**
 * First read: consecutive blocks, their deposits and the cursor in one transaction. The caller has checked
 * that each block links to the one before and the first to the cursor. `final` says that they were final
 * long before they were read and that all below is verified: then this read is the second one too.
 */
export async function commitBlocks(
  deps: Deps,
  cursor: ChainCursor,
  blocks: readonly ScannedBlock[],
  chain: ChainHeights,
  { final = false }: { readonly final?: boolean } = {},
): Promise<Commit> {
  const last = blocks.at(-1);
  if (!last) return { created: 0, foundLate: 0, withdrawn: 0 };
  const { network } = cursor;
  const prices = await pricesFor(
    deps,
    blocks.flatMap((block) => block.transfers),
  );
  return await transact(deps, async (tx) => {
    const verified = final ? { rereadNumber: last.number } : {};
    await moveCursor(tx.em, deps, cursor, {
      scannedNumber: last.number,
      scannedHash: last.hash,
      ...verified,
      ...chain,
    });
    await keepBlocks(tx.em, network, blocks);
    let created = 0;
    const unproven = new Set<string>();
    const adrift = blocks.some((block) => block.untraced) ? await adriftOn(tx.em, network) : [];
    for (const block of blocks) {
      const recorded = await recordTransfers(tx, deps, {
        network,
        block,
        prices,
        headNumber: chain.headNumber,
        adrift,
      });
      created += recorded.created;
      for (const id of recorded.unproven) unproven.add(id);
    }
    const withdrawn = final ? await markAllVerified(tx.em, deps, { network, blocks, unproven }) : 0;
    if (final) await wakeForBlocks(tx, network, blocks);
    return { created, foundLate: 0, withdrawn };
  });
}

async function keepBlocks(em: Em, network: Network, blocks: readonly ScannedBlock[]): Promise<void> {
  await run(
    em,
    sql`insert into chain_blocks (network, number, hash, parent_hash, mined_at, fingerprint)
     select ${network}::text, * from unnest(${blocks.map(({ number }) => number)}::bigint[],
       ${blocks.map(({ hash }) => hash)}::text[],
       ${blocks.map(({ parentHash }) => parentHash)}::text[],
         ${blocks.map(({ timestampMs }) => new Date(timestampMs))}::timestamptz[],
       ${blocks.map(({ fingerprint }) => fingerprint ?? null)}::text[])
     on conflict (network, number) do update set hash = excluded.hash, parent_hash = excluded.parent_hash,
       mined_at = excluded.mined_at, fingerprint = excluded.fingerprint`,
  );
}

type AllRead = {
  readonly network: Network;
  readonly blocks: readonly ScannedBlock[];
  readonly unproven: ReadonlySet<string>;
};

/**
 * {@link markVerified} for each of these blocks that a deposit is bound to,
 * or in which something left a wallet of ours; most blocks of a catch-up hold none.
 */
async function markAllVerified(em: Em, deps: Deps, { network, blocks, unproven }: AllRead): Promise<number> {
  const bound = await rows(
    em,
    sql<{
      blockNumber: string;
    }>`select distinct block_number from deposits where network = ${network} and mode = 'live'
       and block_number between ${blocks[0]?.number ?? 0} and ${blocks.at(-1)?.number ?? -1}
       and block_hash is not null`,
  );
  const numbers = new Set(bound.map((row) => Number.parseInt(row.blockNumber, 10)));
  let withdrawn = 0;
  for (const block of blocks)
    if (numbers.has(block.number) || block.sent)
      withdrawn += await markVerified(em, deps, { network, block, unproven });
  return withdrawn;
}

/**
 * Second read, once the block is final: what it holds is the truth. Deposits that it
 * confirms are marked as verified, ones that the first read missed are recorded late,
 * and ones that it does not hold lose their block and are decided by `advance`.
 */
export async function commitVerified(
  deps: Deps,
  cursor: ChainCursor,
  block: ScannedBlock,
  chain: ChainHeights,
): Promise<Commit> {
  const prices = await pricesFor(deps, block.transfers);
  return await transact(deps, async (tx) => {
    await moveCursor(tx.em, deps, cursor, { rereadNumber: block.number, ...chain });
    const recording = { network: cursor.network, block, prices, headNumber: chain.headNumber, again: true };
    const { created: foundLate, unproven } = await recordTransfers(tx, deps, recording);
    const { network } = cursor;
    const withdrawn = await markVerified(tx.em, deps, { network, block, unproven });
    await wakeForBlocks(tx, network, [block]);
    return { created: 0, foundLate, withdrawn };
  });
}
