import type { AddressKey } from '../../chains/address-key.ts';
import type { AddressLookup } from '../../chains/reader.ts';
import { firstRow, rows, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';
import { gasWalletsSince } from '../payouts/gas.ts';

/** The addresses in memory; the chain's adapter asks it for every transfer of every block. */
export interface AddressIndex extends AddressLookup {
  add(addressHex: string, role?: 'deposit' | 'gas'): unknown;
  readonly size: number;
}

/** The index of one network and how far it was loaded. */
export type WatchedAddresses = { readonly network: Network; readonly index: AddressIndex; loadedXid: string };

const PAGE = 50_000;

/**
 * Loads every address and gas wallet that was committed since the last call. Afterwards any address
 * that a merchant was shown before this call is in the index: the horizon is the oldest
 * transaction still open, so a late commit is seen by the next call and never skipped.
 */
export async function loadWatched(deps: Deps, watched: WatchedAddresses): Promise<number> {
  const em = deps.orm.em.fork();
  const horizon = await firstRow(
    em,
    sql<{ xmin: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`,
  );
  for (const key of await gasWalletsSince(em, watched.network, watched.loadedXid))
    watched.index.add(key, 'gas');
  let loaded = 0;
  let after = '';
  for (;;) {
    const page = await rows(
      em,
      sql<{
        addressKey: AddressKey;
      }>`select address_key from deposit_addresses where network = ${watched.network}
         and created_xid >= ${watched.loadedXid}::xid8 and address_key > ${after} order by address_key
           limit ${PAGE}`,
    );
    for (const row of page) watched.index.add(row.addressKey);
    loaded += page.length;
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.addressKey;
  }
  if (horizon) watched.loadedXid = horizon.xmin;
  return loaded;
}
