import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Currency, Network } from '../../domain/assets.ts';
import type { ChainStops } from '../../domain/chain-stop.ts';
import { UnitsType } from '../units-type.ts';

const chainCursorSchema = defineEntity({
  name: 'ChainCursor',
  tableName: 'chain_cursors',
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
export class ChainCursor extends chainCursorSchema.class {}
chainCursorSchema.setClass(ChainCursor);

const chainBlockSchema = defineEntity({
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
export class ChainBlock extends chainBlockSchema.class {}
chainBlockSchema.setClass(ChainBlock);

const chainRequestsSchema = defineEntity({
  name: 'ChainRequests',
  tableName: 'chain_requests',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    /** UTC. */
    day: p.date(),
    used: p.integer(),
  },
});

/** How many requests of a day all processes have sent to a chain's endpoints. */
export class ChainRequests extends chainRequestsSchema.class {}
chainRequestsSchema.setClass(ChainRequests);

const unrecognisedTransferSchema = defineEntity({
  name: 'UnrecognisedTransfer',
  tableName: 'unrecognised_transfers',
  properties: {
    id: p.uuid().primary(),
    network: p.string().length(8).$type<Network>(),
    transactionHash: p.string().length(66),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    contractAddress: p.string().length(64),
    amountUnits: p.type(UnitsType).$type<bigint>().nullable(),
    blockNumber: p.bigint('number'),
    reason: p.string().length(300),
    /** True for a token of a contract that is none of ours. */
    foreignToken: p.boolean().default(false),
    createdAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    {
      name: 'unrecognised_transfers_unique',
      properties: ['network', 'transactionHash', 'addressKey', 'contractAddress'],
    },
  ],
});

/** Uncredited money: it reached our addresses and cannot be credited. */
export class UnrecognisedTransfer extends unrecognisedTransferSchema.class {}
unrecognisedTransferSchema.setClass(UnrecognisedTransfer);

const unrecognisedDaySchema = defineEntity({
  name: 'UnrecognisedDay',
  tableName: 'unrecognised_days',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    contractAddress: p.string().length(64).primary(),
    /** UTC, as in 2026-11-22. */
    day: p.string().length(10).primary(),
    kept: p.integer(),
    leftOut: p.bigint('number'),
  },
});

/** How many transfers of one stranger's token were kept on one day, and how many were left out. */
export class UnrecognisedDay extends unrecognisedDaySchema.class {}
unrecognisedDaySchema.setClass(UnrecognisedDay);

const reconciliationPassSchema = defineEntity({
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
export class ReconciliationPass extends reconciliationPassSchema.class {}
reconciliationPassSchema.setClass(ReconciliationPass);

const balanceDifferenceSchema = defineEntity({
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
export class BalanceDifference extends balanceDifferenceSchema.class {}
balanceDifferenceSchema.setClass(BalanceDifference);
