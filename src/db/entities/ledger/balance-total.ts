import { defineEntity, p } from '@mikro-orm/core';
import type { Currency, Mode, Network } from '../../../domain/assets.ts';
import type { LedgerAccount } from '../../../domain/ledger.ts';
import { UnitsType } from '../../units-type.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
  name: 'BalanceTotal',
  tableName: 'balance_totals',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    network: p.string().length(8).$type<Network>().primary(),
    currency: p.string().length(8).$type<Currency>().primary(),
    account: p.string().length(12).$type<LedgerAccount>().primary(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    postedAt: p.datetime().columnType('timestamptz'),
  },
});

/**
 * The sum of the lines of one account that are not in `balance_changes` any more. It is no balance by itself.
 */
export class BalanceTotal extends schema.class {}
schema.setClass(BalanceTotal);
