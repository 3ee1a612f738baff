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
    aheadKeys: p.json().$type<readonly AddressKey[]>().default('[]'),
    aheadDone: p.integer().default(0),
    aheadNumber: p.bigint('number').nullable(),
    aheadAt: p.datetime().columnType('timestamptz').nullable(),
    leftOut: p.json().$type<readonly AddressKey[]>().default('[]'),
  },
});

/**
 * How far the reconciliation pass is. `finishedAt` is the end of the last whole pass, also while the next one
 * runs; `movedAt` is the last step that succeeded, `fault` says why one fails now.
 * `aheadKeys` come before all others; the first `aheadDone` of them are done. They were named at `aheadAt`,
 * with the chain verified up to `aheadNumber`. `leftOut` could not be compared and come first the next time.
 */
export class ReconciliationPass extends schema.class {}
schema.setClass(ReconciliationPass);
