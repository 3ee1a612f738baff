import { defineEntity, p } from '@mikro-orm/core';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { LedgerAccount } from '../../domain/ledger.ts';
import { UnitsType } from '../units-type.ts';
import { Deposit } from './deposits.ts';
import { Merchant } from './merchants.ts';

const ledgerTransactionSchema = defineEntity({
  name: 'LedgerTransaction',
  tableName: 'ledger_transactions',
  properties: {
    id: p.uuid().primary(),
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id'),
    /** Counted for each deposit; with the deposit and its time it makes the id. */
    number: p.integer(),
    kind: p.string().length(40),
    /** The deposit's sequence when this was posted. */
    sequence: p.integer(),
    createdAt: p.datetime().columnType('timestamptz'),
  },
});

/** One balanced posting. */
export class LedgerTransaction extends ledgerTransactionSchema.class {}
ledgerTransactionSchema.setClass(LedgerTransaction);

const ledgerEntrySchema = defineEntity({
  name: 'LedgerEntry',
  tableName: 'ledger_entries',
  properties: {
    transactionId: () =>
      p
        .manyToOne(LedgerTransaction)
        .mapToPk()
        .fieldName('transaction_id')
        .createForeignKeyConstraint(false)
        .primary(),
    line: p.integer().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    account: p.string().length(12),
    amountUnits: p.type(UnitsType).$type<bigint>(),
  },
});

/** One line of a posting. */
export class LedgerEntry extends ledgerEntrySchema.class {}
ledgerEntrySchema.setClass(LedgerEntry);

const balanceTotalSchema = defineEntity({
  name: 'BalanceTotal',
  tableName: 'balance_totals',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    network: p.string().length(8).$type<Network>().primary(),
    currency: p.string().length(8).$type<Currency>().primary(),
    account: p.string().length(12).$type<LedgerAccount>().primary(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    postedAt: p.datetime().columnType('timestamptz'),
  },
});

/**
 * The sum of the lines of one account that are not in `balance_changes` any more. It is no balance by itself.
 */
export class BalanceTotal extends balanceTotalSchema.class {}
balanceTotalSchema.setClass(BalanceTotal);

const balanceChangeSchema = defineEntity({
  name: 'BalanceChange',
  tableName: 'balance_changes',
  properties: {
    transactionId: p.uuid().primary(),
    line: p.integer().primary(),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    account: p.string().length(12).$type<LedgerAccount>(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    postedAt: p.datetime().columnType('timestamptz'),
  },
});

/** A line of the ledger that is not in `balance_totals` yet. Written by the database with the line itself. */
export class BalanceChange extends balanceChangeSchema.class {}
balanceChangeSchema.setClass(BalanceChange);

const monthlyTotalSchema = defineEntity({
  name: 'MonthlyTotal',
  tableName: 'monthly_totals',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    month: p.string().length(7).primary(),
    completedCents: p.type(UnitsType).$type<bigint>(),
  },
});

/** USD completed by one merchant in one UTC month, live mode. */
export class MonthlyTotal extends monthlyTotalSchema.class {}
monthlyTotalSchema.setClass(MonthlyTotal);

const monthlyChangeSchema = defineEntity({
  name: 'MonthlyChange',
  tableName: 'monthly_changes',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    sequence: p.integer().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    month: p.string().length(7),
    cents: p.type(UnitsType).$type<bigint>(),
  },
});

/**
 * What one deposit adds to its merchant's month, or takes back, until it is folded into the month's total.
 */
export class MonthlyChange extends monthlyChangeSchema.class {}
monthlyChangeSchema.setClass(MonthlyChange);

const dailyVolumeSchema = defineEntity({
  name: 'DailyVolume',
  tableName: 'daily_volumes',
  properties: {
    merchantId: p.uuid().primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    day: p.date().primary(),
    cents: p.type(UnitsType).$type<bigint>(),
    deposits: p.bigint('number'),
  },
});

/**
 * What was completed on one UTC day and is not in `daily_volume_changes` any more. It is no volume by itself.
 */
export class DailyVolume extends dailyVolumeSchema.class {}
dailyVolumeSchema.setClass(DailyVolume);

const dailyVolumeChangeSchema = defineEntity({
  name: 'DailyVolumeChange',
  tableName: 'daily_volume_changes',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    day: p.date(),
    cents: p.type(UnitsType).$type<bigint>(),
    deposits: p.integer(),
  },
});

/** What a completion adds to its day, or a withdrawal takes back. Written by the database itself. */
export class DailyVolumeChange extends dailyVolumeChangeSchema.class {}
dailyVolumeChangeSchema.setClass(DailyVolumeChange);
