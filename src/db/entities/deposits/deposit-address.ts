import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Mode, Network } from '../../../domain/assets.ts';
import { KNOWN_NETWORKS } from '../../known-networks.ts';
import { Customer } from '../merchants/customer.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'DepositAddress',
  tableName: 'deposit_addresses',
  properties: {
    id: p.uuid().primary(),
    customerId: () => p.manyToOne(Customer).mapToPk().fieldName('customer_id'),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    createdAt: p.datetime().columnType('timestamptz'),
    /** Who made this row what it is; see docs/adr/0016. The signer believes none without. */
    seal: p.blob().nullable(),
    createdXid: p.string().columnType('xid8').defaultRaw('pg_current_xact_id()'),
  },
  uniques: [
    { name: 'deposit_addresses_key_unique', properties: ['network', 'addressKey'] },
    { name: 'deposit_addresses_customer_unique', properties: ['customerId', 'network'] },
  ],
  indexes: [{ name: 'deposit_addresses_created_xid_index', properties: ['network', 'createdXid'] }],
  checks: [{ name: 'deposit_addresses_network_check', expression: `network in (${KNOWN_NETWORKS})` }],
});

/** A permanent address of a customer on one network. */
export class DepositAddress extends schema.class {}
schema.setClass(DepositAddress);
