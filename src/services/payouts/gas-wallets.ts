import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { Em } from '../../db/orm.ts';
import { rows, run, sql } from '../../db/sql.ts';
import type { Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/**
 * Tells every process which wallets pay the chains' fees: whoever holds the wallet file does it at its start.
 * One that was told once stays ours. One that is told again changes nothing, but where another one was told
 * since, or claims to be of a later time: whoever signs tells its own over and over, and signs for no other.
 */
export async function publishGasWallets(
  deps: Pick<Deps, 'orm' | 'now'>,
  gas: Readonly<Partial<Record<Network, string>>>,
): Promise<void> {
  const em = deps.orm.em.fork();
  for (const [network, address] of Object.entries(gas) as [Network, string][])
    await run(
      em,
      sql`insert into gas_wallets (network, address_key, address, created_at)
        values (${network}, ${addressKeyOf(network, address)}, ${address}, ${deps.now()})
        on conflict (network, address_key) do update set created_at = greatest(excluded.created_at, (
            select max(created_at) + interval '1 ms' from gas_wallets w where w.network = excluded.network))
          where exists (select 1 from gas_wallets other where other.network = excluded.network
            and other.address_key <> excluded.address_key and other.created_at >= gas_wallets.created_at)`,
    );
}

/** The gas wallets of a network that were told at or above a transaction horizon; see docs/adr/0004. */
export async function gasWalletsSince(em: Em, network: Network, xid: string): Promise<readonly AddressKey[]> {
  const found = await rows(
    em,
    sql<{ addressKey: AddressKey }>`select address_key from gas_wallets
      where network = ${network} and created_xid >= ${xid}::xid8`,
  );
  return found.map(({ addressKey }) => addressKey);
}

/**
 * Notes that the watcher of a network counts these wallets as ours from now on. Until then nothing may be
 * sent from them: a watcher that does not know them would take it for a deposit.
 */
export async function noteGasWallets(
  em: Em,
  deps: Pick<Deps, 'now'>,
  network: Network,
  isKnown: (addressKey: AddressKey) => boolean,
): Promise<void> {
  const waiting = await rows(
    em,
    sql<{ addressKey: AddressKey }>`select address_key from gas_wallets
      where network = ${network} and noted_at is null`,
  );
  const known = waiting.map(({ addressKey }) => addressKey).filter(isKnown);
  if (known.length === 0) return;
  // What they sent in blocks that were read once without them is in no fingerprint: read these again whole.
  await run(
    em,
    sql`update chain_blocks set fingerprint = null where network = ${network} and fingerprint is not null
      and number > (select reread_number from chain_cursors where network = ${network})`,
  );
  await run(
    em,
    sql`update gas_wallets set noted_at = ${deps.now()} where network = ${network} and noted_at is null
      and address_key = any(${known})`,
  );
}
