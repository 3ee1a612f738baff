import type { QuietBlock } from '../../chains/reader.ts';
import { ChainBlock, type ChainCursor } from '../../db/entities/index.ts';
import { firstRow, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** Blocks that stay known below the verified height, so that a break of finality is still seen as one. */
const KEPT_BELOW_VERIFIED = 300;
/**
 * A catch-up keeps all its blocks until the end: they are
 * forgotten in pieces, so that no transaction grows with them.
 */
const FORGOTTEN_AT_ONCE = 5_000;

/** The hash of the block that was scanned and kept at a height; undefined when none is kept. */
export async function keptHash(deps: Deps, network: Network, number: number): Promise<string | undefined> {
  return (await deps.orm.em.fork().findOne(ChainBlock, { network, number }))?.hash;
}

/**
 * The block that was kept at a height, where its first read left a fingerprint and nothing of ours came to
 * lie in it since: a deposit, what is recorded as uncredited, or what left a wallet of ours has to be seen
 * again by a whole read.
 */
export async function quietBlock(
  deps: Deps,
  network: Network,
  number: number,
): Promise<QuietBlock | undefined> {
  const row = await firstRow(
    deps.orm.em.fork(),
    sql<{ hash: string; parentHash: string; minedAt: string; fingerprint: string }>`
      select hash, parent_hash, mined_at::text as mined_at, fingerprint from chain_blocks b
      where network = ${network} and number = ${number} and fingerprint is not null
        and not exists (select 1 from deposits d where d.network = b.network and d.block_number = b.number
          and d.mode = 'live' and d.block_hash is not null)
        and not exists (select 1 from unrecognised_transfers u
          where u.network = b.network and u.block_number = b.number)
        and not exists (select 1 from sent_transactions s
          where s.network = b.network and s.block_number = b.number and s.block_hash is not null)`,
  );
  if (!row) return undefined;
  const { hash, parentHash, minedAt, fingerprint } = row;
  return { number, hash, parentHash, timestampMs: new Date(minedAt).getTime(), fingerprint };
}

/** The lowest block that is kept. */
export async function lowestKept(deps: Deps, network: Network): Promise<ChainBlock | undefined> {
  const [lowest] = await deps.orm.em
    .fork()
    .find(ChainBlock, { network }, { orderBy: { number: 'asc' }, limit: 1 });
  return lowest;
}

/**
 * Forgets blocks that are no longer needed to measure a break of finality. Called
 * after every move of the verified height; does its work every hundred blocks.
 */
export async function forgetOldBlocks(deps: Deps, before: ChainCursor, after: ChainCursor): Promise<void> {
  if (Math.floor(after.verifiedNumber / 100) <= Math.floor(before.verifiedNumber / 100)) return;
  const { network } = after;
  await run(
    deps.orm.em.fork(),
    sql`delete from chain_blocks where network = ${network} and number in (select number from chain_blocks
       where network = ${network} and number < ${after.verifiedNumber - KEPT_BELOW_VERIFIED} order by number
         limit ${FORGOTTEN_AT_ONCE})`,
  );
}
