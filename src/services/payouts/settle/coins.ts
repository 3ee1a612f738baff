// What lies on addresses of ours, and whose it is.
import type { AddressKey } from '../../../chains/address-key.ts';
import { ChainCursor } from '../../../db/entities/index.ts';
import type { Em } from '../../../db/orm.ts';
import { firstRow, sql } from '../../../db/sql.ts';
import { NATIVE_CURRENCY, type Network } from '../../../domain/assets.ts';
import type { Deps } from '../../deps.ts';
import { assetKey, expectedUnits } from '../../reconciliation/expected-balances.ts';
import type { WatchedChain } from '../../watcher/watched-chain.ts';

/** The wallet that pays for gas on a network. */
export type GasWallet = { readonly address: string; readonly addressKey: AddressKey };

export type MoneyThere = {
  readonly blockNumber: number;
  readonly coinUnits: bigint;
  readonly tokenUnits: bigint;
  readonly expectedCoinUnits: bigint;
  readonly expectedTokenUnits: bigint;
};

/** The newest one that a signer has told of. */
export async function gasWalletOf(em: Em, network: Network): Promise<GasWallet | undefined> {
  return await firstRow(
    em,
    sql<GasWallet>`select address, address_key from gas_wallets where network = ${network}
      order by created_at desc, address_key limit 1`,
  );
}

/**
 * What lies on an address at the end of the last block that was read twice, beside what the ledger expects
 * there. Undefined where no endpoint keeps the state of that block.
 */
export async function moneyThere(
  deps: Deps & { readonly chain: WatchedChain; readonly signal: AbortSignal },
  network: Network,
  addressKey: AddressKey,
): Promise<MoneyThere | undefined> {
  const em = deps.orm.em.fork();
  const cursor = await em.findOne(ChainCursor, network);
  const { reader } = deps.chain;
  if (!cursor || cursor.verifiedNumber < 0 || !reader.balances) return undefined;
  const blockNumber = cursor.verifiedNumber;
  const [held] = (await reader.balances([addressKey], blockNumber, deps.signal)) ?? [];
  if (!held) return undefined;
  const expected = await expectedUnits(em, deps, { network, addressKeys: [addressKey], blockNumber });
  const boundOf = (key: string): bigint => expected.get(key)?.boundUnits ?? 0n;
  return {
    blockNumber,
    coinUnits: held.nativeUnits,
    tokenUnits: held.tokenUnits,
    expectedCoinUnits: boundOf(assetKey(addressKey, NATIVE_CURRENCY[network])),
    expectedTokenUnits: boundOf(assetKey(addressKey, 'USDT')),
  };
}

/**
 * The coins on an address that belong to no deposit: what final top-ups brought there and payouts of coins
 * kept back, less every fee that was paid from there. Below zero where a fee was paid out of deposits.
 */
export async function freeCoins(
  em: Em,
  { network, addressKey }: { readonly network: Network; readonly addressKey: AddressKey },
): Promise<bigint> {
  const row = await firstRow(
    em,
    sql<{ units: string }>`select coalesce(sum(units), 0)::text as units from (
      select amount_units as units from sent_transactions
      where network = ${network} and to_key = ${addressKey} and purpose = 'gas' and state = 'final' and ok
      union all
      select -fee_units from sent_transactions
      where network = ${network} and from_key = ${addressKey} and block_hash is not null
      union all
      select p.gross_units - s.amount_units from sent_transactions s join payouts p on p.id = s.payout_id
      where s.network = ${network} and s.from_key = ${addressKey} and s.purpose = 'payout' and s.ok
        and s.state = 'final' and s.currency = ${NATIVE_CURRENCY[network]}
    ) parts`,
  );
  return BigInt(row?.units ?? '0');
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
