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
  },
});

/** A scanned block above the verified height. */
export class ChainBlock extends schema.class {}
schema.setClass(ChainBlock);
