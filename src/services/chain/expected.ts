import type { Balance } from '../../chain/port.ts';
import type { Em } from '../../db/orm.ts';
import { type Currency, NATIVE_CURRENCY, type Network } from '../../domain/assets.ts';
import type { Deps } from '../deps.ts';

/** The two assets of a network that balances are compared in. */
export function comparedAssets(network: Network): readonly Currency[] {
  return [NATIVE_CURRENCY[network], 'USDT'];
}

/** The part of a balance that is this currency. */
export function unitsOf(balance: Balance, network: Network, currency: Currency): bigint {
  return currency === NATIVE_CURRENCY[network] ? balance.nativeUnits : balance.tokenUnits;
}

/** Key of a map of amounts by address and currency. */
export const assetKey = (addressKey: string, currency: Currency): string => `${addressKey}:${currency}`;

/**
 * What must lie on addresses at the end of a block, by {@link assetKey}: every deposit whose money arrived and did not leave, whatever
 * became of the deposit, and what was set aside for the operator in our own assets. An address without either is absent.
 */
export async function expectedUnits(
  deps: Deps,
  em: Em,
  at: { readonly network: Network; readonly addressKeys: readonly string[]; readonly blockNumber: number },
): Promise<ReadonlyMap<string, bigint>> {
  const { network, blockNumber } = at;
  // One text: the driver would spread a list over several placeholders.
  const addressKeys = at.addressKeys.join(',');
  const rows = await em.execute<{ address_key: string; currency: Currency; units: string }[]>(
    `select address_key, currency, sum(amount_units)::text as units from (
       select address_key, currency, amount_units from deposits
       where network = ? and address_key = any(string_to_array(?, ',')) and mode = 'live' and not simulated and block_number <= ?
         and block_hash is not null and status <> 'settled'
       union all
       select address_key, case when contract_address = '' then ? else 'USDT' end, amount_units from unrecognised_transfers
       where network = ? and address_key = any(string_to_array(?, ',')) and block_number <= ? and transaction_hash <> '' and amount_units is not null
         and (contract_address = '' or lower(contract_address) = ?)
     ) as parts group by address_key, currency`,
    [
      ...[network, addressKeys, blockNumber, NATIVE_CURRENCY[network]],
      ...[network, addressKeys, blockNumber, deps.settings.contracts[network].toLowerCase()],
    ],
  );
  return new Map(rows.map((row) => [assetKey(row.address_key, row.currency), BigInt(row.units)]));
}
