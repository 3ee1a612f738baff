import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Mode, Network } from '../../domain/assets.ts';
import { Merchant } from './merchants.ts';

/** Everything that a search compares, in lower case. */
const SEARCH_TEXT = `lower((((((COALESCE(external_id, ''::character varying))::text || chr(10)) || (COALESCE(email, ''::character varying))::text) || chr(10)) || (COALESCE(name, ''::character varying))::text))`;

const customerSchema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    externalId: p.string().length(255).nullable(),
    email: p.string().length(320).nullable(),
    name: p.string().length(255).nullable(),
    metadata: p.json().$type<Record<string, string>>(),
    walletIndex: p.integer(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    /** Finds the page with the customer's addresses; null where there is none, and for one who is erased. */
    pageTokenHash: p.string().length(64).nullable().lazy(),
    pageTokenSealed: p.blob().nullable().lazy(),
    searchText: p.text().nullable().lazy().generated(`(${SEARCH_TEXT}) stored`),
  },
  uniques: [
    { name: 'customers_external_id_unique', properties: ['merchantId', 'mode', 'externalId'] },
    { name: 'customers_email_unique', properties: ['merchantId', 'mode', 'email'] },
    { name: 'customers_wallet_index_unique', properties: ['walletIndex'] },
    { name: 'customers_page_token_hash_unique', properties: ['pageTokenHash'] },
  ],
});

/** A merchant's end user, in one mode. */
export class Customer extends customerSchema.class {}
customerSchema.setClass(Customer);

const depositAddressSchema = defineEntity({
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
});

/** A permanent address of a customer on one network. */
export class DepositAddress extends depositAddressSchema.class {}
depositAddressSchema.setClass(DepositAddress);

const rowCountSchema = defineEntity({
  name: 'RowCount',
  tableName: 'row_counts',
  properties: {
    list: p.string().length(20).primary(),
    merchantId: p.uuid().primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    rows: p.bigint('number'),
  },
});

/** How many rows of a list are not in `row_count_changes` any more. It is no count by itself. */
export class RowCount extends rowCountSchema.class {}
rowCountSchema.setClass(RowCount);

const rowCountChangeSchema = defineEntity({
  name: 'RowCountChange',
  tableName: 'row_count_changes',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    list: p.string().length(20),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    rows: p.bigint('number'),
  },
});

/** Rows of a list that are not in `row_counts` yet. Written by the database with the rows themselves. */
export class RowCountChange extends rowCountChangeSchema.class {}
rowCountChangeSchema.setClass(RowCountChange);
