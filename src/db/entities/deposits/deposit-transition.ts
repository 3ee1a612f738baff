import { defineEntity, p } from '@mikro-orm/core';
import { Deposit } from './deposit.ts';

const schema = defineEntity({
  name: 'DepositTransition',
  tableName: 'deposit_transitions',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    sequence: p.integer().primary(),
    fromState: p.string().length(10).nullable(),
    toState: p.string().length(10),
    generation: p.integer(),
    failureCode: p.string().length(24).nullable(),
    reason: p.string().length(500).nullable(),
    byName: p.string().length(120).nullable(),
    at: p.datetime().columnType('timestamptz').primary(),
  },
});

/** The audit trail of a deposit. */
export class DepositTransition extends schema.class {}
schema.setClass(DepositTransition);
