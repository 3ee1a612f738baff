import { defineEntity, p } from '@mikro-orm/core';
import type { Mode, Network } from '../../domain/assets.ts';
import type { AmountStatus, LinkCurrency, LinkStatus } from '../../domain/payment-link.ts';
import { UnitsType } from '../units-type.ts';
import { Customer } from './customers.ts';
import { Merchant } from './merchants.ts';

const paymentLinkSchema = defineEntity({
  name: 'PaymentLink',
  tableName: 'payment_links',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    customerId: () => p.manyToOne(Customer).mapToPk().fieldName('customer_id'),
    mode: p.string().length(4).$type<Mode>(),
    token: p.string().length(64),
    url: p.string().length(2048),
    status: p.string().length(16).$type<LinkStatus>(),
    amountStatus: p.string().length(10).$type<AmountStatus>(),
    stateSince: p.datetime().columnType('timestamptz'),
    sequence: p.integer(),
    amountCents: p.type(UnitsType).$type<bigint>(),
    amountUnits: p.type(UnitsType).$type<bigint>(),
    leastUnits: p.type(UnitsType).$type<bigint>(),
    // The three sums over the assigned deposits are written by the database
    // alone, whenever one of these changes.
    paidUnits: p.type(UnitsType).$type<bigint>(),
    assignedUnits: p.type(UnitsType).$type<bigint>().default('0'),
    openCount: p.integer().default(0),
    late: p.boolean(),
    /** How many events told of the link: the number of the newest one. */
    eventSequence: p.integer().default(0),
    /** What of the paid sum the merchant was told, while it did not suffice. */
    partialUnits: p.type(UnitsType).$type<bigint>().default('0'),
    currency: p.string().length(8).$type<LinkCurrency>(),
    network: p.string().length(8).$type<Network>().nullable(),
    /** The networks on which the payer was shown an address when the link was made. */
    offeredNetworks: p.array<Network>().columnType('text[]'),
    description: p.string().length(500).nullable(),
    externalId: p.string().length(255).nullable(),
    metadata: p.json().$type<Record<string, unknown>>(),
    successUrl: p.string().length(2048).nullable(),
    cancelUrl: p.string().length(2048).nullable(),
    webhookUrl: p.string().length(2048).nullable(),
    paidNetwork: p.string().length(8).$type<Network>().nullable(),
    paidCurrency: p.string().length(8).$type<LinkCurrency>().nullable(),
    transactionHash: p.string().length(66).nullable(),
    expiresAt: p.datetime().columnType('timestamptz'),
    completedAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
  },
  uniques: [{ name: 'payment_links_token_unique', properties: ['token'] }],
});

/**
 * A hosted checkout. Amounts in units are USDT with 18 decimals, whatever network pays;
 * the USDT amount is fixed when the link is made.
 */
export class PaymentLink extends paymentLinkSchema.class {}
paymentLinkSchema.setClass(PaymentLink);
