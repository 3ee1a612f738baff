import type { AddressKey } from '../../chains/address-key.ts';
import { spellingsOf } from '../../chains/addresses.ts';
import type { Balance } from '../../chains/reader.ts';
import type { Em } from '../../db/orm.ts';
import { literals, rows, sql } from '../../db/sql.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import { MONEY_PURPOSES } from '../../domain/payouts/purpose.ts';
import type { Deps } from '../deps.ts';
import { CAME_IN } from '../ledger/accounts.ts';
import type { Place } from './place.ts';

/**
 * The reason of a transfer that was shown only after its money had been
 * credited to another transaction of the address: it adds nothing.
 */
export const COVERED = 'its money is credited already, with another deposit of this address';

/**
 * What should lie on an address: what is bound to blocks that are in
 * the chain, and what the ledger still holds without such a block.
 */
export type ExpectedBalance = { readonly boundUnits: bigint; readonly replacedUnits: bigint };

const MOVES_MONEY = literals(MONEY_PURPOSES);

export const NOTHING_EXPECTED: ExpectedBalance = { boundUnits: 0n, replacedUnits: 0n };

/** The two assets of a network that balances are compared in. */
export function comparedAssets(network: Network): readonly Currency[] {
  return [NATIVE_CURRENCY[network], 'USDT'];
}

/** The part of a balance that is this currency. */
export function unitsOf(balance: Balance, network: Network, currency: Currency): bigint {
  return currency === NATIVE_CURRENCY[network] ? balance.nativeUnits : balance.tokenUnits;
}

/** The key of a map of amounts by address and currency. */
export const assetKey = (addressKey: AddressKey, currency: Currency): string => `${addressKey}:${currency}`;

/**
 * What must lie on addresses at the end of a block, by {@link assetKey}: what deposits brought
 * by then, what was recorded as uncredited for the operator in our own assets, and what we signed that
 * brought something there, less what we signed that left it, and the fees of that. What we did not sign is
 * left out, so that it shows as a difference, but for what has paid deposits out all the same. A credited
 * deposit whose block was replaced is still in the ledger and is counted separately. An address without any
 * of it is not in the result.
 */
export async function expectedUnits(
  em: Em,
  deps: Deps,
  at: {
    readonly network: Network;
    readonly addressKeys: readonly AddressKey[];
    readonly blockNumber: number;
  },
): Promise<ReadonlyMap<string, ExpectedBalance>> {
  const { network, addressKeys, blockNumber } = at;
  const found = await rows(
    em,
    sql<{ addressKey: AddressKey; currency: Currency; bound: string; replaced: string }>`
     select address_key, currency, coalesce(sum(units) filter (where bound), 0)::text as bound,
       coalesce(sum(units) filter (where not bound), 0)::text as replaced
     from (
       select d.address_key, d.currency, d.amount_units as units, d.block_hash is not null as bound
       from deposits d
       where d.network = ${network} and d.address_key = any(${addressKeys}) and d.mode = 'live'
         and not d.simulated and d.block_number <= ${blockNumber}
         and ${CAME_IN}
       union all
       select address_key, case when contract_address = '' then ${NATIVE_CURRENCY[network]} else 'USDT' end,
         amount_units, true from unrecognised_transfers
       where network = ${network} and address_key = any(${addressKeys}) and block_number <= ${blockNumber}
         and transaction_hash <> '' and amount_units is not null
         and contract_address = any(${ourAssets(deps, network)}::text[])
         and reason <> ${COVERED}
       union all
       select to_key, currency, amount_units, true from sent_transactions
       where network = ${network} and to_key = any(${addressKeys}) and purpose in ${MOVES_MONEY} and ok
         and block_number <= ${blockNumber}
       union all
       select from_key, currency, -amount_units, true from sent_transactions
       where network = ${network} and from_key = any(${addressKeys}) and ok
         and (purpose in ${MOVES_MONEY} or purpose is null and payout_id is not null)
         and block_number <= ${blockNumber}
       union all
       select from_key, ${NATIVE_CURRENCY[network]}, -fee_units, true from sent_transactions
       where network = ${network} and from_key = any(${addressKeys})
         and (purpose is not null or payout_id is not null) and block_number <= ${blockNumber}
     ) as parts group by address_key, currency`,
  );
  return new Map(
    found.map((row) => [
      assetKey(row.addressKey, row.currency),
      { boundUnits: BigInt(row.bound), replacedUnits: BigInt(row.replaced) },
    ]),
  );
}

/**
 * What the contract of an uncredited transfer is where it was in one of our assets; empty for the native
 * coin.
 */
export function ourAssets({ settings }: Pick<Deps, 'settings'>, network: Network): readonly string[] {
  return ['', ...spellingsOf(network, settings.contracts[network])];
}

/** What blocks that are in the chain have brought to a place by the end of a block. */
export async function boundUnits(
  em: Em,
  deps: Deps,
  { network, addressKey, currency }: Place,
  blockNumber: number,
): Promise<bigint> {
  const found = await expectedUnits(em, deps, { network, addressKeys: [addressKey], blockNumber });
  return (found.get(assetKey(addressKey, currency)) ?? NOTHING_EXPECTED).boundUnits;
}
