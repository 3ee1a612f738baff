import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from '../deposits/deposit.ts';

const schema = defineEntity({
  name: 'LedgerTransaction',
  tableName: 'ledger_transactions',
  properties: {
    id: p.uuid().primary(),
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id'),
    /** Counted for each deposit; with the deposit and its time it makes the id. */
    number: p.integer(),
    kind: p.string().length(40),
    /** The deposit's sequence when this was posted. */
    sequence: p.integer(),
    createdAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'ledger_transactions_deposit_id_index', properties: ['depositId'] }],
});

/** One balanced posting. */
export class LedgerTransaction extends schema.class {}
schema.setClass(LedgerTransaction);
