import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Network } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'BalanceDifference',
  tableName: 'balance_differences',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    currency: p.string().length(8).$type<Currency>().primary(),
    address: p.string().length(64),
    chainUnits: p.type(UnitsType).$type<bigint>(),
    differenceUnits: p.type(UnitsType).$type<bigint>(),
    knownUnits: p.type(UnitsType).$type<bigint>(),
    beforeUnits: p.type(UnitsType).$type<bigint>(),
    replacedUnits: p.type(UnitsType).$type<bigint>(),
    sinceNumber: p.bigint('number'),
    foundNumber: p.bigint('number'),
    searched: p.boolean(),
    reason: p.string().length(300),
    notedAt: p.datetime().columnType('timestamptz'),
  },
});

/**
 * A balance that does not agree with the ledger. `differenceUnits` is the balance on the chain less what
 * the ledger binds to its blocks at `foundNumber`; `knownUnits` of it were already there at
 * `sinceNumber`, so the blocks to search lie between the two. `beforeUnits` lay on the address before it
 * was one of ours, which is no deposit. `replacedUnits` are in the ledger although their block was
 * replaced: chain less ledger is `differenceUnits` less these.
 */
export class BalanceDifference extends schema.class {}
schema.setClass(BalanceDifference);
