import { defineEntity, p } from '@mikro-orm/core';
import type { Currency, Mode, Network } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';
import { Merchant } from '../merchants/merchant.ts';
import { LedgerTransaction } from './ledger-transaction.ts';

const schema = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  properties: {
    transactionId: () =>
      p
        .manyToOne(LedgerTransaction)
        .mapToPk()
        .fieldName('transaction_id')
        .createForeignKeyConstraint(false)
        .primary(),
    line: p.integer().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    account: p.string().length(12),
    amountUnits: p.type(UnitsType).$type<bigint>(),
  },
  checks: [
    {
      name: 'ledger_entries_account_check',
      expression: "account in ('chain', 'pending', 'available', 'settled', 'fees', 'held', 'shortfall')",
    },
    { name: 'ledger_entries_amount_check', expression: 'amount_units <> 0' },
  ],
});

/** One line of a posting. */
export class LedgerEntry extends schema.class {}
schema.setClass(LedgerEntry);
