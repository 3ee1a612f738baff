import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Network } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'GasLevel',
  tableName: 'gas_levels',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    /** Coins that lay there at the end of the block. */
    units: p.type(UnitsType).$type<bigint>(),
    blockNumber: p.bigint('number'),
    /** What one coin was worth then, in 10^-8 US dollars; null where nobody knew. */
    coinUsd8: p.type(UnitsType).$type<bigint>().nullable(),
    at: p.datetime().columnType('timestamptz'),
  },
  checks: [
    { name: 'gas_levels_units_check', expression: 'units >= 0' },
    { name: 'gas_levels_price_check', expression: 'coin_usd8 > 0' },
  ],
});

/** What a wallet that pays for gas was seen to hold last: for operators, never for a decision about money. */
export class GasLevel extends schema.class {}
schema.setClass(GasLevel);
