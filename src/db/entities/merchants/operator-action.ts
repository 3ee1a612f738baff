import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { ApiKey } from '../access/api-key.ts';
import { User } from '../access/user.ts';
import { Merchant } from './merchant.ts';

const schema = defineEntity({
  name: 'OperatorAction',
  tableName: 'operator_actions',
  properties: {
    id: p.uuid().primary(),
    at: p.datetime().columnType('timestamptz'),
    action: p.string().length(40),
    byName: p.string().length(120).nullable(),
    userId: () => p.manyToOne(User).mapToPk().fieldName('user_id').nullable().deleteRule('no action'),
    keyId: () => p.manyToOne(ApiKey).mapToPk().fieldName('key_id').nullable().deleteRule('no action'),
    origin: p.string().length(255).nullable(),
    merchantId: () =>
      p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').nullable().deleteRule('no action'),
    mode: p.string().length(4).$type<Mode>().nullable(),
    subject: p.string().length(100),
    before: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    after: p.json().$type<Readonly<Record<string, unknown>>>().nullable(),
    reason: p.string().length(500).nullable(),
  },
  indexes: [
    { name: 'operator_actions_at_index', properties: ['at', 'id'] },
    { name: 'operator_actions_merchant_id_index', properties: ['merchantId', 'at', 'id'] },
    { name: 'operator_actions_mode_index', properties: ['merchantId', 'mode', 'at', 'id'] },
  ],
  checks: [
    { name: 'operator_actions_actor_check', expression: 'num_nonnulls(by_name, user_id, key_id) = 1' },
    { name: 'operator_actions_mode_check', expression: "mode in ('live', 'test')" },
  ],
});

/**
 * What an operator (`byName`), a signed-in user (`userId`) or an API key (`keyId`)
 * changed, and from where. The database refuses to change or remove a row.
 */
export class OperatorAction extends schema.class {}
schema.setClass(OperatorAction);
