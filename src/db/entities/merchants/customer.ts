import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { Merchant } from './merchant.ts';

/** Everything that a search compares, in lower case. */
const SEARCH_TEXT = `lower((((((COALESCE(external_id, ''::character varying))::text || chr(10)) || (COALESCE(email, ''::character varying))::text) || chr(10)) || (COALESCE(name, ''::character varying))::text))`;

/** As the database writes down what makes a token: 182 random bits. */
const NEW_TOKEN = `('ap_'::text || translate(encode(decode("left"(replace(((gen_random_uuid())::text || (gen_random_uuid())::text), '-'::text, ''::text), 48), 'hex'::text), 'base64'::text), '+/'::text, '-_'::text))`;

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
    /** Finds the page with the customer's addresses; null for one who is erased. */
    pageToken: p.string().length(35).nullable().lazy().defaultRaw(NEW_TOKEN),
    searchText: p.text().nullable().lazy().generated(`(${SEARCH_TEXT}) stored`),
  },
  uniques: [
    { name: 'customers_external_id_unique', properties: ['merchantId', 'mode', 'externalId'] },
    { name: 'customers_email_unique', properties: ['merchantId', 'mode', 'email'] },
    { name: 'customers_wallet_index_unique', properties: ['walletIndex'] },
    { name: 'customers_page_token_unique', properties: ['pageToken'] },
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
    { name: 'customers_page_token_check', expression: "page_token ~ '^ap_[A-Za-z0-9_-]{32}$'" },
    {
      name: 'customers_erased_page_check',
      expression: "page_token is null or external_id is distinct from 'erased-' || id",
    },
    { name: 'customers_named_check', expression: 'external_id is not null or email is not null' },
  ],
});

/** A merchant's end user, in one mode. */
export class Customer extends schema.class {}
schema.setClass(Customer);
