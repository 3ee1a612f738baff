import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../chains/address-key.ts';
import type { Currency, Mode, Network } from '../../domain/assets.ts';
import type { DepositState, FailureCode } from '../../domain/deposit.ts';
import { UnitsType } from '../units-type.ts';
import { Customer } from './customers.ts';
import { Merchant } from './merchants.ts';
import { PaymentLink } from './payment-links.ts';
import { Payout } from './payouts.ts';

const depositSchema = defineEntity({
  name: 'Deposit',
  tableName: 'deposits',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    customerId: () => p.manyToOne(Customer).mapToPk().fieldName('customer_id'),
    mode: p.string().length(4).$type<Mode>(),
    network: p.string().length(8).$type<Network>(),
    currency: p.string().length(8).$type<Currency>(),
    contractAddress: p.string().length(64).nullable(),
    address: p.string().length(64),
    addressKey: p.string().length(40).$type<AddressKey>(),
    fromAddress: p.string().length(64).nullable(),
    transactionHash: p.string().length(66),
    blockNumber: p.bigint('number'),
    blockHash: p.string().length(66).nullable(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    /**
     * What its transaction carries according to a read or trace that shows everything; only kept
     * where something was attributed to the deposit.
     */
    provenUnits: p.type(UnitsType).$type<bigint>().nullable(),
    amountUsdCents: p.type(UnitsType).$type<bigint>().nullable(),
    rateUnits: p.type(UnitsType).$type<bigint>().nullable(),
    rateSource: p.string().length(60).nullable(),
    rateAt: p.datetime().columnType('timestamptz').nullable(),
    status: p.string().length(10).$type<DepositState>(),
    stateSince: p.datetime().columnType('timestamptz'),
    failureCode: p.string().length(24).$type<FailureCode>().nullable(),
    failureReason: p.string().length(500).nullable(),
    generation: p.integer(),
    sequence: p.integer(),
    /** How many ledger transactions it has, which is the number of the last one. */
    postingCount: p.integer(),
    simulated: p.boolean(),
    requiredConfirmations: p.integer(),
    verifiedAt: p.datetime().columnType('timestamptz').nullable(),
    alarmedAt: p.datetime().columnType('timestamptz').nullable(),
    wakeAt: p.datetime().columnType('timestamptz').nullable(),
    /**
     * The time of its block, as it was first recorded or last bound; simulated
     * deposits have the time when they were made.
     */
    minedAt: p.datetime().columnType('timestamptz').nullable(),
    paymentLinkId: () =>
      p.manyToOne(PaymentLink).mapToPk().fieldName('payment_link_id').nullable().deleteRule('no action'),
    /** The payout that covers it; null while none does. */
    payoutId: () => p.manyToOne(Payout).mapToPk().fieldName('payout_id').nullable().deleteRule('no action'),
    /** What was paid out for it, and its part of what that cost, in the network's own coin. */
    settledUnits: p.type(UnitsType).$type<bigint>().nullable(),
    settlementFeeUnits: p.type(UnitsType).$type<bigint>().nullable(),
    detectedAt: p.datetime().columnType('timestamptz'),
    completedAt: p.datetime().columnType('timestamptz').nullable(),
    settledAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [
    {
      name: 'deposits_identity_unique',
      properties: ['mode', 'network', 'transactionHash', 'addressKey', 'currency'],
    },
  ],
});

/** Money that arrived at a customer's address. */
export class Deposit extends depositSchema.class {}
depositSchema.setClass(Deposit);

const depositTransitionSchema = defineEntity({
  name: 'DepositTransition',
  tableName: 'deposit_transitions',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    sequence: p.integer().primary(),
    fromState: p.string().length(10).nullable(),
    toState: p.string().length(10),
    generation: p.integer(),
    failureCode: p.string().length(24).nullable(),
    reason: p.string().length(500).nullable(),
    byName: p.string().length(120).nullable(),
    at: p.datetime().columnType('timestamptz').primary(),
  },
});

/** The audit trail of a deposit. */
export class DepositTransition extends depositTransitionSchema.class {}
depositTransitionSchema.setClass(DepositTransition);

const depositDecisionSchema = defineEntity({
  name: 'DepositDecision',
  tableName: 'deposit_decisions',
  properties: {
    id: p.uuid().primary(),
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id'),
    generation: p.integer(),
    byName: p.string().length(120),
    reason: p.string().length(500),
    at: p.datetime().columnType('timestamptz'),
  },
});

/**
 * The decision of an operator to fail this generation of a deposit: who decided it, and why.
 * Whether it was carried out is in the transitions.
 */
export class DepositDecision extends depositDecisionSchema.class {}
depositDecisionSchema.setClass(DepositDecision);

const depositAttributionSchema = defineEntity({
  name: 'DepositAttribution',
  tableName: 'deposit_attributions',
  properties: {
    depositId: () => p.manyToOne(Deposit).mapToPk().fieldName('deposit_id').primary(),
    number: p.integer().primary(),
    network: p.string().length(8).$type<Network>(),
    addressKey: p.string().length(40).$type<AddressKey>(),
    currency: p.string().length(8).$type<Currency>(),
    basis: p.string().length(10).$type<'trace' | 'balance' | 'candidate' | 'operator'>(),
    beforeUnits: p.type(UnitsType).$type<bigint>(),
    carriedUnits: p.type(UnitsType).$type<bigint>(),
    foundNumber: p.bigint('number').nullable(),
    arrivedUnits: p.type(UnitsType).$type<bigint>().nullable(),
    byName: p.string().length(120).nullable(),
    reason: p.string().length(500).nullable(),
    at: p.datetime().columnType('timestamptz'),
  },
});

/**
 * Why a transaction was credited with money that no read showed it to carry: who or what said so, and the
 * balance that bounded it. Up to `foundNumber`, `arrivedUnits` had come to the address; `carriedUnits` is the
 * whole deposit after the decision, `beforeUnits` what it was before.
 */
export class DepositAttribution extends depositAttributionSchema.class {}
depositAttributionSchema.setClass(DepositAttribution);

const latePaymentSchema = defineEntity({
  name: 'LatePayment',
  tableName: 'late_payments',
  properties: {
    depositId: () =>
      p
        .manyToOne(Deposit)
        .mapToPk()
        .fieldName('deposit_id')
        .primary()
        .updateRule('no action')
        .deleteRule('no action'),
    paymentLinkId: () =>
      p
        .manyToOne(PaymentLink)
        .mapToPk()
        .fieldName('payment_link_id')
        .updateRule('no action')
        .deleteRule('no action'),
    at: p.datetime().columnType('timestamptz'),
  },
});

/**
 * Money that came for a link after its end: its payer is shown it. A deposit is late for one link at a time;
 * mined once more, it may be late for another one, or pay one.
 */
export class LatePayment extends latePaymentSchema.class {}
latePaymentSchema.setClass(LatePayment);
