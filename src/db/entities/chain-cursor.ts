import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../domain/assets.ts';

const schema = defineEntity({
  name: 'ChainCursor',
  tableName: 'chain_cursors',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    firstBlock: p.bigint('number'),
    scannedNumber: p.bigint('number'),
    scannedHash: p.string().length(66),
    verifiedNumber: p.bigint('number'),
    headNumber: p.bigint('number'),
    finalizedNumber: p.bigint('number'),
    movedAt: p.datetime().columnType('timestamptz'),
    finalizedMovedAt: p.datetime().columnType('timestamptz'),
    polledAt: p.datetime().columnType('timestamptz'),
    fault: p.string().length(300).nullable(),
    version: p.bigint('number'),
    createdAt: p.datetime().columnType('timestamptz'),
  },
});

/** How far a chain was followed. */
export class ChainCursor extends schema.class {}
schema.setClass(ChainCursor);
