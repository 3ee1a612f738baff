import { defineEntity, p } from '@mikro-orm/core';
import { UnitsType } from '../../units-type.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'MonthlyTotal',
  tableName: 'monthly_totals',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    month: p.string().length(7).primary(),
    completedCents: p.type(UnitsType).$type<bigint>(),
  },
});

/** USD completed by one merchant in one UTC month, live mode. */
export class MonthlyTotal extends schema.class {}
schema.setClass(MonthlyTotal);
