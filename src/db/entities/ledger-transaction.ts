import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from './deposit.ts';

const schema = defineEntity({
  name: 'LedgerTransaction',
  tableName: 'ledger_transactions',
  properties: {
    id: p.uuid().primary(),
    dedupKey: p.string().length(120),
    kind: p.string().length(40),
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id'),
    createdAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [{ name: 'ledger_transactions_dedup_key_unique', properties: ['dedupKey'] }],
  indexes: [{ name: 'ledger_transactions_deposit_id_index', properties: ['depositId'] }],
});

/** One balanced posting. */
export class LedgerTransaction extends schema.class {}
schema.setClass(LedgerTransaction);
