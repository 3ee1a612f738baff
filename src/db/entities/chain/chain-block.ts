import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'ChainBlock',
  tableName: 'chain_blocks',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    number: p.bigint('number').primary(),
    hash: p.string().length(66),
    parentHash: p.string().length(66),
    minedAt: p.datetime().columnType('timestamptz'),
    /** What its second read compares where nothing in it touched us; null where it is read whole again. */
    fingerprint: p.string().length(64).nullable(),
  },
});

/** A scanned block above the verified height. */
export class ChainBlock extends schema.class {}
schema.setClass(ChainBlock);
