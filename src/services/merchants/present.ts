import type { AddressView, CustomerView } from '../../contract/customer.ts';
import type { Customer, DepositAddress } from '../../db/entities/index.ts';
import { ASSETS, NATIVE_CURRENCY, NETWORKS, type Network } from '../../domain/assets.ts';
import { isoSeconds } from '../../domain/events.ts';
import { centsToJsonNumber } from '../../domain/money.ts';

export type CustomerRow = Pick<Customer, 'id' | 'mode' | 'createdAt' | 'updatedAt'> & {
  readonly externalId?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly metadata: Readonly<Record<string, unknown>>;
};
export type AddressRow = Pick<DepositAddress, 'network' | 'address' | 'createdAt'>;

/**
 * What a customer's view needs beside the row: addresses, the
 * USDT contract of each network, and the sums over the deposits.
 */
export type CustomerContext = {
  readonly addresses: readonly AddressRow[];
  readonly contracts: Readonly<Record<Network, string>>;
  readonly depositCount: number;
  readonly totalDepositedCents: bigint;
};

/** The customer with all addresses, `bsc` first. */
export function presentCustomer(row: CustomerRow, more: CustomerContext): CustomerView {
  const addresses = NETWORKS.flatMap((network) =>
    more.addresses.filter((address) => address.network === network),
  );
  return {
    id: row.id,
    external_id: row.externalId ?? null,
    email: row.email ?? null,
    name: row.name ?? null,
    metadata: { ...row.metadata },
    is_live: row.mode === 'live',
    addresses: addresses.map((address) => presentAddress(address, more.contracts)),
    deposit_count: more.depositCount,
    total_deposited_usd: centsToJsonNumber(more.totalDepositedCents),
    created_at: isoSeconds(row.createdAt),
    updated_at: isoSeconds(row.updatedAt),
  };
}

function presentAddress(row: AddressRow, contracts: Readonly<Record<Network, string>>): AddressView {
  const currencies = ASSETS.filter((asset) => asset.network === row.network).map((asset) => ({
    currency: asset.currency,
    contract_address: asset.kind === 'token' ? contracts[row.network] : null,
    decimals: asset.decimals,
  }));
  return {
    network: row.network,
    address: row.address,
    native_currency: NATIVE_CURRENCY[row.network],
    currencies,
    created_at: isoSeconds(row.createdAt),
  };
}
