import { defineEntity, p } from '@mikro-orm/core';
import type { AddressKey } from '../../../chains/address-key.ts';
import type { Currency, Mode, Network } from '../../../domain/assets.ts';
import type { DepositState, FailureCode } from '../../../domain/deposit.ts';
import { UnitsType } from '../../units-type.ts';
import { Customer } from '../merchants/customer.ts';
import { Merchant } from '../merchants/merchant.ts';
import { Payout } from '../payouts/payout.ts';
import { PaymentLink } from './payment-link.ts';

const schema = defineEntity({
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
  indexes: [
    { name: 'deposits_list_index', properties: ['merchantId', 'mode', 'createdAt', 'id'] },
    { name: 'deposits_status_index', properties: ['merchantId', 'mode', 'status', 'createdAt', 'id'] },
    {
      name: 'deposits_coin_index',
      properties: ['merchantId', 'mode', 'network', 'currency', 'createdAt', 'id'],
    },
    { name: 'deposits_customer_index', properties: ['customerId', 'createdAt', 'id'] },
    { name: 'deposits_transaction_hash_index', properties: ['transactionHash'] },
    { name: 'deposits_to_address_index', properties: ['network', 'addressKey', 'createdAt', 'id'] },
    {
      name: 'deposits_standing_index',
      properties: ['stateSince', 'id'],
      where: "status in ('detected', 'confirming') and not simulated",
    },
    { name: 'deposits_block_index', properties: ['network', 'blockNumber'], where: 'block_hash is not null' },
    { name: 'deposits_orphaned_index', properties: ['network'], where: 'block_hash is null' },
    {
      name: 'deposits_payment_link_index',
      properties: ['paymentLinkId', 'createdAt', 'id'],
      where: 'payment_link_id is not null',
    },
    {
      name: 'deposits_proven_index',
      properties: ['network'],
      where: 'proven_units is not null and proven_units <> amount_units',
    },
    {
      name: 'deposits_unproven_index',
      properties: ['network', 'blockNumber'],
      where:
        "verified_at is null and block_hash is not null and currency <> 'USDT' and status in ('detected', 'confirming')",
    },
    { name: 'deposits_payout_index', properties: ['payoutId'], where: 'payout_id is not null' },
    {
      name: 'deposits_payable_index',
      properties: ['network', 'addressKey'],
      where: "status = 'completed' and payout_id is null and not simulated",
    },
    { name: 'deposits_sleeping_index', properties: ['network', 'blockNumber'], where: 'wake_at is not null' },
  ],
  checks: [
    { name: 'deposits_mode_check', expression: "mode in ('live', 'test')" },
    { name: 'deposits_posting_count_check', expression: 'posting_count >= 0' },
    { name: 'deposits_amount_check', expression: 'amount_units > 0' },
    {
      name: 'deposits_status_check',
      expression: "status in ('detected', 'confirming', 'completed', 'settled', 'failed')",
    },
    { name: 'deposits_failure_check', expression: "(status = 'failed') = (failure_code is not null)" },
    {
      name: 'deposits_failure_code_check',
      expression: "failure_code in ('MONTHLY_LIMIT', 'REORGED', 'BELOW_MINIMUM', 'REJECTED_BY_OPERATOR')",
    },
    {
      name: 'deposits_payment_check',
      expression: "payment_link_id is null or currency = 'USDT'",
    },
    {
      name: 'deposits_settled_units_check',
      expression: 'settled_units >= 0 and settled_units <= amount_units',
    },
    { name: 'deposits_settlement_fee_check', expression: 'settlement_fee_units >= 0' },
    {
      name: 'deposits_payout_check',
      expression: "payout_id is null or status in ('completed', 'settled')",
    },
    {
      name: 'deposits_settlement_check',
      expression:
        "(settled_units is null) = (settlement_fee_units is null) and (settled_units is null or (status = 'settled' and payout_id is not null))",
    },
    {
      name: 'deposits_priced_check',
      expression: "status in ('detected', 'confirming', 'failed') or amount_usd_cents is not null",
    },
  ],
});

/** Money that arrived at a customer's address. */
export class Deposit extends schema.class {}
schema.setClass(Deposit);
