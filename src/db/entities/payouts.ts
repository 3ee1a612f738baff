import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { PayoutDecisionKind } from '../../domain/payouts/pause.ts';
import type { WaitCode } from '../../domain/payouts/waits.ts';
import type { PayoutState } from '../../domain/settlement.ts';
import { UnitsType } from '../units-type.ts';
import { Merchant, User } from './merchants.ts';

const withdrawAddressSchema = defineEntity({
  name: 'WithdrawAddress',
  tableName: 'withdraw_addresses',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    network: p.string().length(8).$type<Network>().primary(),
    /** Null where it was taken away: that is a sealed row, too. */
    address: p.string().length(64).nullable(),
    /** Who made this row what it is; see docs/adr/0016. The signer believes none without. */
    seal: p.blob().nullable(),
  },
});

/** Where the payouts of a merchant on one network go, as merchants see addresses; never removed. */
export class WithdrawAddress extends withdrawAddressSchema.class {}
withdrawAddressSchema.setClass(WithdrawAddress);

/**
 * How a change ended: it became the address, somebody took it back, another one took its place, or what it
 * asks for was no address to pay to any more when it was due.
 */
export type WithdrawOutcome = 'counted' | 'cancelled' | 'replaced' | 'refused';

const withdrawChangeSchema = defineEntity({
  name: 'WithdrawChange',
  tableName: 'withdraw_changes',
  properties: {
    id: p.uuid().primary(),
    merchantId: () =>
      p
        .manyToOne(Merchant)
        .mapToPk()
        .fieldName('merchant_id')
        .updateRule('no action')
        .deleteRule('no action'),
    network: p.string().length(8).$type<Network>(),
    address: p.string().length(64).nullable(),
    contractAllowed: p.boolean(),
    askedBy: () =>
      p.manyToOne(User).mapToPk().fieldName('asked_by').updateRule('no action').deleteRule('no action'),
    askedFrom: p.string().length(255),
    askedAt: p.datetime().columnType('timestamptz'),
    countsAt: p.datetime().columnType('timestamptz'),
    seal: p.blob(),
    endedAt: p.datetime().columnType('timestamptz').nullable(),
    outcome: p.string().length(9).$type<WithdrawOutcome>().nullable(),
    reason: p.string().length(300).nullable(),
  },
  uniques: [
    {
      name: 'withdraw_changes_open_unique',
      properties: ['merchantId', 'network'],
      where: 'ended_at is null',
    },
  ],
});

/**
 * A withdraw address that a signed-in user asked for and that counts from `countsAt` on; null takes the
 * present one away. What was asked for never changes, and it ends once: the database refuses anything else.
 */
export class WithdrawChange extends withdrawChangeSchema.class {}
withdrawChangeSchema.setClass(WithdrawChange);

const payoutSchema = defineEntity({
  name: 'Payout',
  tableName: 'payouts',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    simulated: p.boolean(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    contractAddress: p.string().length(64).nullable(),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    /** Where it goes, as merchants see addresses. */
    destination: p.string().length(64),
    /** Exactly the sum of its deposits. */
    grossUnits: p.type(UnitsType).$type<bigint>(),
    state: p.string().length(9).$type<PayoutState>(),
    stateSince: p.datetime().columnType('timestamptz'),
    /** Why it was cancelled or has failed. */
    reason: p.string().length(500).nullable(),
    /** What the destination got, once it is settled. */
    netUnits: p.type(UnitsType).$type<bigint>().nullable(),
    /** What it cost, in the network's own coin, everything that was sent for it included. */
    feeUnits: p.type(UnitsType).$type<bigint>().nullable(),
    transactionHash: p.string().length(66).nullable(),
    settledAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    {
      name: 'payouts_living_unique',
      properties: ['network', 'addressKey'],
      where: "state in ('planned', 'paying')",
    },
    {
      name: 'payouts_paid_unique',
      properties: ['network', 'transactionHash'],
      where: "state = 'settled' and not simulated",
    },
  ],
});

/** One transfer of completed deposits from one of our addresses to the merchant's own wallet. */
export class Payout extends payoutSchema.class {}
payoutSchema.setClass(Payout);

const settlementWaitSchema = defineEntity({
  name: 'SettlementWait',
  tableName: 'settlement_waits',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    addressKey: p.string().length(40).$type<AddressKey>().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    /** Null where nothing is planned because of it. */
    payoutId: () => p.manyToOne(Payout).mapToPk().fieldName('payout_id').nullable().deleteRule('no action'),
    address: p.string().length(64),
    currency: p.string().length(8).$type<Currency>(),
    code: p.string().length(16).$type<WaitCode>(),
    reason: p.string().length(500),
    /** Coins that somebody has to send, in base units, and where to. */
    needsUnits: p.type(UnitsType).$type<bigint>().nullable(),
    needsAddress: p.string().length(64).nullable(),
    since: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    /** When it was reported as something that does not go on by itself. */
    alarmedAt: p.datetime().columnType('timestamptz').nullable(),
  },
});

/** Why nothing is paid out of one of our addresses at present. */
export class SettlementWait extends settlementWaitSchema.class {}
settlementWaitSchema.setClass(SettlementWait);

const payoutDecisionSchema = defineEntity({
  name: 'PayoutDecision',
  tableName: 'payout_decisions',
  properties: {
    /** Of two that are about the same, the higher one counts. */
    id: p.bigint('string').primary().autoincrement(),
    kind: p.string().length(6).$type<PayoutDecisionKind>(),
    /** Null where it is about all payouts of the installation. */
    merchantId: () =>
      p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').nullable().deleteRule('no action'),
    /** The address that is to be looked at again. */
    network: p.string().length(8).$type<Network>().nullable(),
    addressKey: p.string().length(40).$type<AddressKey>().nullable(),
    byName: p.string().length(120),
    reason: p.string().length(500).nullable(),
    at: p.datetime().columnType('timestamptz'),
    /** Of `resume`: that it was written by who holds SECRETS_KEY. */
    seal: p.blob().nullable(),
  },
});

/** What an operator decided about payouts, and never took back: the database refuses to change a row. */
export class PayoutDecision extends payoutDecisionSchema.class {}
payoutDecisionSchema.setClass(PayoutDecision);
