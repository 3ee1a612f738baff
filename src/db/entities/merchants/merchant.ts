import { defineEntity, p } from '@mikro-orm/core';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'Merchant',
  tableName: 'merchants',
  properties: {
    id: p.uuid().primary(),
    name: p.string().length(200),
    monthlyLimitCents: p.type(UnitsType).$type<bigint>().nullable(),
    subscriptionActive: p.boolean(),
    subscriptionUntil: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  checks: [
    { name: 'merchants_limit_check', expression: 'monthly_limit_cents is null or monthly_limit_cents >= 0' },
  ],
});

/** A merchant: our user. */
export class Merchant extends schema.class {}
schema.setClass(Merchant);
