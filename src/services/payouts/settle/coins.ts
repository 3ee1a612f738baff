// What lies on addresses of ours, and whose it is.
import type { AddressKey } from '../../../chains/address-key.ts';
import { ChainCursor } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import type { Deps } from '../../deps.ts';
import { assetKey, expectedUnits } from '../../reconciliation/expected-balances.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';
import { heldOn } from '../gas.ts';
import type { PayoutMemory } from './context.ts';

export type MoneyThere = {
  readonly blockNumber: number;
  readonly coinUnits: bigint;
  readonly tokenUnits: bigint;
  readonly expectedCoinUnits: bigint;
  readonly expectedTokenUnits: bigint;
};

/**
 * What lies on an address beside what the ledger expects there: at the end of the last block that was read
 * twice, or, where a chain tells only what lies there now, between two final blocks at both of which the
 * ledger says the same. Undefined where no endpoint tells it, or money came or went in between.
 */
export async function moneyThere(
  deps: Asking,
  network: Network,
  addressKey: AddressKey,
): Promise<MoneyThere | undefined> {
  const seen = await seenOn(deps, network, addressKey);
  if (!seen) return undefined;
  const [first, last] = [await expectedAt(seen.from), await expectedAt(seen.to)];
  if (first.coin !== last.coin || first.token !== last.token) return undefined;
  return {
    blockNumber: seen.to,
    coinUnits: seen.held.nativeUnits,
    tokenUnits: seen.held.tokenUnits,
    expectedCoinUnits: last.coin,
    expectedTokenUnits: last.token,
  };

  async function expectedAt(blockNumber: number) {
    const at = { network, addressKeys: [addressKey], blockNumber };
    const expected = await expectedUnits(deps.orm.em.fork(), deps, at);
    const boundOf = (currency: Currency): bigint =>
      expected.get(assetKey(addressKey, currency))?.boundUnits ?? 0n;
    return { coin: boundOf(NATIVE_CURRENCY[network]), token: boundOf('USDT') };
  }
}

/** The coins in a gas wallet, in final blocks; undefined where no endpoint tells it. */
export async function coinsIn(
  deps: Remembering,
  network: Network,
  addressKey: AddressKey,
): Promise<bigint | undefined> {
  const cursor = await deps.orm.em.fork().findOne(ChainCursor, network);
  const known = deps.memory.coins.get(network);
  const nowMs = deps.now().getTime();
  const isNew = known !== undefined && Math.abs(nowMs - known.atMs) < COINS_MS;
  if (isNew && known.addressKey === addressKey && known.blockNumber === cursor?.verifiedNumber)
    return known.units;
  const seen = await seenOn(deps, network, addressKey);
  // What an address held at the end of a block that was read twice stays so.
  if (seen && seen.from === seen.to)
    deps.memory.coins.set(network, {
      addressKey,
      blockNumber: seen.to,
      units: seen.held.nativeUnits,
      atMs: nowMs,
    });
  return seen?.held.nativeUnits;
}

/** It is one endpoint's word, which must not last for as long as nothing becomes final. */
const COINS_MS = 2_000;

type Asking = Deps & { readonly chain: WatchedChain; readonly signal: AbortSignal };
type Remembering = Asking & { readonly memory: PayoutMemory };

/** What an address holds, and between which blocks; undefined beyond what was read of the chain. */
async function seenOn(deps: Asking, network: Network, addressKey: AddressKey) {
  const cursor = await deps.orm.em.fork().findOne(ChainCursor, network);
  if (!cursor || cursor.verifiedNumber < 0) return undefined;
  const blockNumber = cursor.verifiedNumber;
  const seen = await heldOn(deps.chain.reader, { addressKey, blockNumber }, deps.signal);
  if (!seen || seen.to <= blockNumber) return seen;
  // Blocks may have been read while the balances were asked for.
  const { scannedNumber } = await deps.orm.em.fork().findOneOrFail(ChainCursor, network);
  return seen.to > scannedNumber ? undefined : seen;
}

/** Coins on an address that belong to no deposit, by our own transactions. */
type CoinsBeside = {
  /** For fees: what top-ups brought, less every fee. Below zero where one was paid out of deposits. */
  readonly freeUnits: bigint;
  /** What payouts of coins kept back for their fee, and the chain did not take: the next one keeps less. */
  readonly reserveUnits: bigint;
};

/** See {@link CoinsBeside}; what top-ups brought and payouts kept back counts once it is final. */
export async function coinsBeside(
  em: Em,
  { network, addressKey }: { readonly network: Network; readonly addressKey: AddressKey },
): Promise<CoinsBeside> {
  // What paid a payout: as we signed it, or as an operator has concluded it by what the chain shows.
  const ofCoins = sql`(s.ok is true and s.currency = ${NATIVE_CURRENCY[network]}
    and (s.purpose is not distinct from 'payout' and s.state = 'final'
      or s.purpose is null and s.payout_id is not null))`;
  const row = await firstRow(
    em,
    sql<{ free: string; reserve: string }>`
      select coalesce(sum(units) filter (where not kept), 0)::text as free,
        coalesce(sum(units) filter (where kept), 0)::text as reserve from (
      select amount_units as units, false as kept from sent_transactions
      where network = ${network} and to_key = ${addressKey} and purpose = 'gas' and state = 'final' and ok
      union all
      select -s.fee_units, ${ofCoins} from sent_transactions s
      where s.network = ${network} and s.from_key = ${addressKey} and s.block_hash is not null
      union all
      select p.gross_units - s.amount_units, true
      from sent_transactions s join payouts p on p.id = s.payout_id
      where s.network = ${network} and s.from_key = ${addressKey} and ${ofCoins}
    ) parts`,
  );
  return { freeUnits: BigInt(row?.free ?? '0'), reserveUnits: BigInt(row?.reserve ?? '0') };
}

/**
 * What a gas wallet will have paid once all that was asked of it is in final blocks; `feeUnits` is what each
 * transfer costs at present.
 */
export async function spokenFor(
  em: Em,
  network: Network,
  addressKey: AddressKey,
  feeUnits: bigint,
): Promise<bigint> {
  const row = await firstRow(
    em,
    sql<{ units: string; transfers: string }>`
      select coalesce(sum(amount_units), 0)::text as units, count(*)::text as transfers
      from (select distinct on (payout_id) amount_units from sent_transactions
        where network = ${network} and from_key = ${addressKey} and purpose = 'gas'
          and state in ('asked', 'signed', 'sent', 'mined') order by payout_id, amount_units desc) open`,
  );
  return BigInt(row?.units ?? '0') + BigInt(row?.transfers ?? '0') * feeUnits;
}
