import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';
import type { ChainStops } from '../../../domain/chain-stop.ts';

const schema = defineEntity({
  name: 'ChainCursor',
  tableName: 'chain_cursors',
  checks: [
    {
      name: 'chain_cursors_order_check',
      expression: 'reread_number <= scanned_number and anchored_number <= scanned_number',
    },
  ],
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    /** What tells this chain from every other one; null until it was proven once. */
    identity: p.string().length(80).nullable(),
    firstBlock: p.bigint('number'),
    scannedNumber: p.bigint('number'),
    scannedHash: p.string().length(66),
    /** Up to this height every block had the second read, which decides what it holds. */
    rereadNumber: p.bigint('number'),
    /** The highest kept block that an endpoint named as final, by its hash. Null until there was one. */
    anchoredNumber: p.bigint('number'),
    anchoredHash: p.string().length(66).nullable(),
    verifiedNumber: p.bigint('number').generated('(least(reread_number, anchored_number)) stored'),
    headNumber: p.bigint('number'),
    finalizedNumber: p.bigint('number'),
    movedAt: p.datetime().columnType('timestamptz'),
    finalizedMovedAt: p.datetime().columnType('timestamptz'),
    scannedMovedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    verifiedMovedAt: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    polledAt: p.datetime().columnType('timestamptz'),
    fault: p.string().length(300).nullable(),
    /** What keeps a part of the watching from going on, by part. */
    stops: p.json().$type<ChainStops>().default('{}'),
    version: p.bigint('number'),
    createdAt: p.datetime().columnType('timestamptz'),
  },
});

/** How far a chain was watched. */
export class ChainCursor extends schema.class {}
schema.setClass(ChainCursor);
