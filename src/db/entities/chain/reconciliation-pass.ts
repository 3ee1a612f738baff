import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'ReconciliationPass',
  tableName: 'balance_rounds',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    startedNumber: p.bigint('number'),
    startedAt: p.datetime().columnType('timestamptz'),
    position: p.string().length(40).$type<AddressKey>().nullable(),
    agreedNumber: p.bigint('number'),
    checked: p.bigint('number'),
    finishedAt: p.datetime().columnType('timestamptz').nullable(),
    movedAt: p.datetime().columnType('timestamptz').nullable(),
    fault: p.string().length(300).nullable(),
  },
});

/**
 * How far the reconciliation pass is. `finishedAt` is the end of the last whole pass, also while the next one
 * runs; `movedAt` is the last step that succeeded, `fault` says why one fails now.
 */
export class ReconciliationPass extends schema.class {}
schema.setClass(ReconciliationPass);
