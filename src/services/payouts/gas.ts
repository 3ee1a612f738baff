// What the wallets that pay for gas hold, and for how many payouts that is enough: for operators.
import type { AddressKey } from '../../chains/address-key.ts';
import { addressKeyOf } from '../../chains/addresses.ts';
import type { Balance, ChainReader } from '../../chains/reader.ts';
import { ChainCursor, GasLevel as GasLevelRow } from '../../db/entities/index.ts';
import type { Em } from '../../db/orm.ts';
import { firstRow, rows, run, sql } from '../../db/sql.ts';
import { ASSETS, assetOf, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { formatUnits } from '../../domain/money.ts';
import { currentPrice } from '../deposits/price.ts';
import type { Deps } from '../deps.ts';
import { transact } from '../transact.ts';
import { wakeForGas } from './wakes.ts';

type Reader = Pick<ChainReader, 'balances' | 'currentBalances'>;

export type GasLevel = Awaited<ReturnType<typeof readGasLevels>>[number];

const ASK_WITHIN_MS = 10_000;
/** Where a chain tells only what lies there now, its requests may be counted by the day. */
const SELDOM_MS = 15 * 60_000;
/** The cost of a payout is what so many of the last ones took on average. */
const LAST_PAYOUTS = 20;
/** They are looked for among so many: most may be of coins, which take nothing. */
const LAST_OF_ANY = 500;
const TOKENS = ASSETS.filter(({ kind }) => kind === 'token').map(({ currency }) => currency);

/**
 * Looks at what the newest gas wallet of each network holds, at the last block that was read twice, and
 * writes it down with the price of the coin. A chain that does not answer keeps what was seen before; throws
 * the first failure once all were tried.
 */
export async function noteGasLevels(deps: Deps, readers: ReadonlyMap<Network, Reader>): Promise<void> {
  const failures: unknown[] = [];
  for (const network of deps.settings.payouts.networks)
    await noteGasLevel(deps, network, readers.get(network)).catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/**
 * The same of one network; where more lies there than before, the actors that wait for it are told. Where
 * requests may be counted it is not looked at again within some minutes, unless it has `moved`.
 */
export async function noteGasLevel(
  deps: Deps,
  network: Network,
  reader: Reader | undefined,
  { moved = false } = {},
): Promise<void> {
  const em = deps.orm.em.fork();
  const wallet = await gasWalletOf(em, network);
  const cursor = await em.findOne(ChainCursor, network);
  if (!wallet || !reader || !cursor || cursor.verifiedNumber < 0) return;
  const { addressKey } = wallet;
  const before = await em.findOne(GasLevelRow, { network, addressKey });
  const isOfLate = before && deps.now().getTime() - before.at.getTime() < SELDOM_MS;
  if (!reader.balances && !moved && isOfLate) return;
  const signal = AbortSignal.timeout(ASK_WITHIN_MS);
  const seen = await heldOn(reader, { addressKey, blockNumber: cursor.verifiedNumber }, signal);
  if (!seen) return;
  const price = await currentPrice(deps, NATIVE_CURRENCY[network]);
  const usd8 = price && !price.stale && price.usd8 > 0n ? price.usd8.toString() : null;
  await transact(deps, async (tx) => {
    await run(
      tx.em,
      sql`insert into gas_levels (network, address_key, units, block_number, coin_usd8, at)
      values (${network}, ${addressKey}, ${seen.held.nativeUnits.toString()}::numeric, ${seen.to},
        ${usd8}::numeric, ${deps.now()})
      on conflict (network, address_key) do update set units = excluded.units,
        block_number = excluded.block_number, coin_usd8 = excluded.coin_usd8, at = excluded.at`,
    );
    if (seen.held.nativeUnits > (before?.units ?? 0n)) await wakeForGas(tx, network);
  });
}

/** What lay on an address between which final blocks. */
type Seen = { readonly held: Balance; readonly from: number; readonly to: number };

/**
 * What an address holds at the end of a block that was read twice, or, where a chain tells only what lies
 * there now, between two final blocks. Undefined where nobody tells it.
 */
export async function heldOn(
  reader: Reader,
  { addressKey, blockNumber: at }: { readonly addressKey: AddressKey; readonly blockNumber: number },
  signal: AbortSignal,
): Promise<Seen | undefined> {
  if (reader.balances) {
    const [held] = (await reader.balances([addressKey], at, signal)) ?? [];
    return held && { held, from: at, to: at };
  }
  const current = await reader.currentBalances?.([addressKey], signal);
  const [held] = current?.rows ?? [];
  return current && held && { held, from: current.from, to: current.to };
}

/** From here on somebody should send coins, while there is time. */
const LEAST_PAYOUTS = 20;

/** Whether somebody should send coins to a gas wallet: it is used, and is enough for a few payouts only. */
export function isLow({ amount, payoutsLeft, isUsed }: GasLevel): boolean {
  return isUsed && (amount === '0' || (payoutsLeft !== null && payoutsLeft < LEAST_PAYOUTS));
}

/**
 * The newest gas wallet of each network, as it was seen last. What a payout of a token takes there is the
 * coins that it was given, and the fees of these, of lending energy and of taking it back. Asks no chain.
 */
export async function readGasLevels(em: Em) {
  const found = await rows(
    em,
    sql<Row>`
      select w.network, w.address, l.units::text as units, l.coin_usd8::text as coin_usd8, l.at, c.cost,
        floor(l.units / nullif(c.cost, 0))::text as payouts_left,
        exists (select 1 from withdraw_addresses d where d.network = w.network
          and d.address is not null) as is_used
      from (select distinct on (network) network, address, address_key from gas_wallets
        order by network, created_at desc, address_key) w
      left join gas_levels l on l.network = w.network and l.address_key = w.address_key
      left join lateral (select avg(took) as cost from (
        select (select coalesce(sum(s.fee_units + case when s.purpose = 'gas' and s.ok then s.amount_units
              else 0 end), 0) from sent_transactions s
            where s.payout_id = p.id and s.purpose <> 'payout' and s.state = 'final') as took
        from (select id, currency, settled_at from payouts where network = w.network and state = 'settled'
          and not simulated order by settled_at desc limit ${LAST_OF_ANY}) p
        where p.currency = any(${TOKENS}) order by p.settled_at desc limit ${LAST_PAYOUTS}) last) c on true
      order by w.network`,
  );
  return found.map(({ network, address, units, coinUsd8, at, payoutsLeft, isUsed }) => {
    const currency = NATIVE_CURRENCY[network];
    return {
      network,
      address,
      currency,
      /** What it was seen to hold, in whole coins; null where nobody has looked yet. */
      amount: units === null ? null : formatUnits(BigInt(units), assetOf(network, currency).decimals),
      at: at === null ? null : new Date(at),
      /** For how many payouts that is enough, at what the last ones took; null before one took something. */
      payoutsLeft: payoutsLeft === null ? null : Number.parseInt(payoutsLeft, 10),
      /** What a coin was worth then, in 10^-8 US dollars; null where nobody knew. */
      coinUsd8: coinUsd8 === null ? null : BigInt(coinUsd8),
      /** Whether a merchant is paid out on the network at all. */
      isUsed,
    };
  });
}

type Row = Record<'units' | 'coinUsd8' | 'at' | 'payoutsLeft', string | null> & {
  readonly network: Network;
  readonly address: string;
  readonly isUsed: boolean;
};

/** The wallet that pays for gas on a network. */
export type GasWallet = { readonly address: string; readonly addressKey: AddressKey };

/** The newest one that a signer has told of. */
export async function gasWalletOf(em: Em, network: Network): Promise<GasWallet | undefined> {
  return await firstRow(
    em,
    sql<GasWallet>`select address, address_key from gas_wallets where network = ${network}
      order by created_at desc, address_key limit 1`,
  );
}

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
