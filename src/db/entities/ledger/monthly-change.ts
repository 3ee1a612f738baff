import { defineEntity, p } from '@mikro-orm/core';
import { UnitsType } from '../../units-type.ts';
import { Deposit } from '../deposits/deposit.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'MonthlyChange',
  tableName: 'monthly_changes',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    sequence: p.integer().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    month: p.string().length(7),
    cents: p.type(UnitsType).$type<bigint>(),
  },
  indexes: [{ name: 'monthly_changes_month_index', properties: ['merchantId', 'month'] }],
});

/**
 * What one deposit adds to its merchant's month, or takes back, until it is folded into the month's total.
 */
export class MonthlyChange extends schema.class {}
schema.setClass(MonthlyChange);
