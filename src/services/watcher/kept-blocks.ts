import { ChainBlock, type ChainCursor } from '../../db/entities/index.ts';
import { run, sql } from '../../db/sql.ts';
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
