import { defineEntity, p } from '@mikro-orm/core';
import type { Currency, Mode, Network } from '../../../domain/assets.ts';
import type { LedgerAccount } from '../../../domain/ledger.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'BalanceChange',
  tableName: 'balance_changes',
  properties: {
    transactionId: p.uuid().primary(),
    line: p.integer().primary(),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    account: p.string().length(12).$type<LedgerAccount>(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    postedAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'balance_changes_balance_index', properties: ['merchantId', 'mode'] }],
});

/** A line of the ledger that is not in `balance_totals` yet. Written by the database with the line itself. */
export class BalanceChange extends schema.class {}
schema.setClass(BalanceChange);
