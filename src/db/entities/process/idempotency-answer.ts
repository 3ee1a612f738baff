import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'IdempotencyAnswer',
  tableName: 'idempotency_answers',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    method: p.string().length(10),
    path: p.string().length(500),
    key: p.string().length(255),
    requestHash: p.string().length(64),
    status: p.smallint(),
    bodySealed: p.blob(),
    createdAt: p.datetime().columnType('timestamptz'),
    expiresAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    { name: 'idempotency_answers_scope_unique', properties: ['merchantId', 'mode', 'method', 'path', 'key'] },
  ],
  indexes: [{ name: 'idempotency_answers_expires_at_index', properties: ['expiresAt'] }],
  checks: [{ name: 'idempotency_answers_mode_check', expression: "mode in ('live', 'test')" }],
});

/** The answer to a request with an Idempotency-Key, sealed under the row's id: it may hold a secret. */
export class IdempotencyAnswer extends schema.class {}
schema.setClass(IdempotencyAnswer);
