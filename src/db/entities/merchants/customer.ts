import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { Merchant } from './merchant.ts';

/** Everything that a search compares, in lower case. */
const SEARCH_TEXT = `lower((((((COALESCE(external_id, ''::character varying))::text || chr(10)) || (COALESCE(email, ''::character varying))::text) || chr(10)) || (COALESCE(name, ''::character varying))::text))`;

const schema = defineEntity({
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
  indexes: [
    { name: 'customers_list_index', properties: ['merchantId', 'mode', 'createdAt', 'id'] },
    { name: 'customers_any_email_index', expression: 'the email of a customer in small letters' },
    {
      name: 'customers_any_external_id_index',
      properties: ['externalId'],
      where: 'external_id is not null',
    },
    { name: 'customers_search_index', expression: 'the texts of a customer in groups of three letters' },
  ],
  checks: [
    { name: 'customers_mode_check', expression: "mode in ('live', 'test')" },
    {
      name: 'customers_page_token_check',
      expression: '(page_token_hash is null) = (page_token_sealed is null)',
    },
    {
      name: 'customers_erased_page_check',
      expression: "page_token_hash is null or external_id is distinct from 'erased-' || id",
    },
    { name: 'customers_named_check', expression: 'external_id is not null or email is not null' },
  ],
});

/** A merchant's end user, in one mode. */
export class Customer extends schema.class {}
schema.setClass(Customer);
