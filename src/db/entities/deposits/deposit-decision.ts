import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from './deposit.ts';

const schema = defineEntity({
  name: 'DepositDecision',
  tableName: 'deposit_decisions',
  properties: {
    id: p.uuid().primary(),
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id'),
    generation: p.integer(),
    byName: p.string().length(120),
    reason: p.string().length(500),
    at: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'deposit_decisions_deposit_index', properties: ['depositId', 'generation'] }],
});

/**
 * The decision of an operator to fail this generation of a deposit: who decided it, and why.
 * Whether it was carried out is in the transitions.
 */
export class DepositDecision extends schema.class {}
schema.setClass(DepositDecision);
