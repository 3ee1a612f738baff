import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { dayOf } from './unrecognised.ts';

/** How long transfers of tokens that are not ours are listed. */
const KEPT_MS = 90 * 24 * 3_600_000;
const PIECE = 1_000;

export type LeftOut = {
  readonly network: Network;
  readonly contract_address: string;
  readonly day: string;
  readonly left_out: number;
};

/**
 * Removes rows older than 90 days of tokens that are not ours, in pieces. Rows of our
 * own assets stay for ever: dust, money on test-mode addresses and what our own wallets
 * sent explain balances and can be claimed. Returns how many rows were removed.
 */
export async function purgeStrangers(deps: Deps): Promise<number> {
  const em = deps.orm.em.fork();
  const before = new Date(deps.now().getTime() - KEPT_MS);
  await run(em, sql`delete from unrecognised_days where day < ${dayOf(before)}`);
  let removed = 0;
  for (;;) {
    const piece = await removePiece(em, before);
    removed += piece;
    if (piece < PIECE) return removed;
  }
}

async function removePiece(em: Em, before: Date): Promise<number> {
  return await run(
    em,
    sql`delete from unrecognised_transfers where id in (
       select id from unrecognised_transfers where foreign_token and created_at < ${before}
         order by created_at limit ${PIECE} for update skip locked
     )`,
  );
}

/** How much was not kept of tokens that came in too great a number, newest day first. */
export async function listLeftOut(
  deps: Deps,
  filters: { readonly network?: Network; readonly limit: number },
): Promise<LeftOut[]> {
  const { network = null, limit } = filters;
  const found = await rows(
    deps.orm.em.fork(),
    sql<{ network: Network; contractAddress: string; day: string; leftOut: number }>`
      select network, contract_address, day, left_out::int as left_out from unrecognised_days
      where left_out > 0 and network = coalesce(${network}, network)
        order by day desc, left_out desc, contract_address limit ${limit}`,
  );
  return found.map((row) => ({
    network: row.network,
    contract_address: row.contractAddress,
    day: row.day,
    left_out: row.leftOut,
  }));
}
