import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import type { KeyScope } from '../../../domain/key-scope.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'ApiKey',
  tableName: 'api_keys',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    hash: p.string().length(64),
    prefix: p.string().length(16),
    last4: p.string().length(4),
    label: p.string().length(200).nullable(),
    scopes: p.array().$type<KeyScope[]>(),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz').nullable(),
    revokedAt: p.datetime().columnType('timestamptz').nullable(),
    lastUsedAt: p.datetime().columnType('timestamptz').nullable(),
    lastUsedSite: p.string().length(64).nullable(),
  },
  uniques: [{ name: 'api_keys_hash_unique', properties: ['hash'] }],
  indexes: [{ name: 'api_keys_merchant_id_index', properties: ['merchantId'] }],
  checks: [
    { name: 'api_keys_mode_check', expression: "mode in ('live', 'test')" },
    {
      name: 'api_keys_scopes_check',
      expression: "scopes <@ array['read', 'payments', 'webhooks', 'all'] and cardinality(scopes) > 0",
    },
  ],
});

/** An API key: only its SHA-256 is stored. */
export class ApiKey extends schema.class {}
schema.setClass(ApiKey);
