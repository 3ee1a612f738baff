import { defineEntity, p } from '@mikro-orm/core';
import type { Mode, Network } from '../../../domain/assets.ts';
import type { AmountStatus, LinkCurrency, LinkStatus } from '../../../domain/payment-link.ts';
import { KNOWN_NETWORKS } from '../../known-networks.ts';
import { UnitsType } from '../../units-type.ts';
import { Customer } from '../merchants/customer.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
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
  indexes: [
    { name: 'payment_links_list_index', properties: ['merchantId', 'mode', 'createdAt', 'id'] },
    {
      name: 'payment_links_external_id_index',
      properties: ['merchantId', 'mode', 'externalId', 'createdAt', 'id'],
      where: 'external_id is not null',
    },
    { name: 'payment_links_customer_index', properties: ['customerId', 'createdAt', 'id'] },
    {
      name: 'payment_links_ending_index',
      properties: ['expiresAt', 'id'],
      where: "status in ('pending', 'processing', 'partially_paid')",
    },
    {
      name: 'payment_links_open_index',
      properties: ['customerId', 'createdAt', 'id'],
      where: "status in ('pending', 'processing', 'partially_paid')",
    },
    {
      name: 'payment_links_wanting_index',
      properties: ['customerId', 'createdAt', 'id'],
      where: "status in ('pending', 'processing', 'partially_paid') and assigned_units < amount_units",
    },
    {
      name: 'payment_links_open_owner_index',
      properties: ['merchantId', 'mode'],
      where: "status in ('pending', 'processing', 'partially_paid')",
    },
    {
      name: 'payment_links_any_external_id_index',
      properties: ['externalId'],
      where: 'external_id is not null',
    },
    { name: 'payment_links_search_index', expression: 'the texts of a link in groups of three letters' },
    { name: 'payment_links_asked_index', expression: 'an open link by what is open of it' },
    { name: 'payment_links_missed_index', expression: 'a link that was not completed by what is open of it' },
    {
      name: 'payment_links_short_index',
      expression: 'a link that was not completed by the least that it misses',
    },
  ],
  checks: [
    { name: 'payment_links_mode_check', expression: "mode in ('live', 'test')" },
    { name: 'payment_links_offered_check', expression: `offered_networks <@ array[${KNOWN_NETWORKS}]` },
    { name: 'payment_links_network_check', expression: `network in (${KNOWN_NETWORKS})` },
    {
      name: 'payment_links_status_check',
      expression:
        "status in ('pending', 'processing', 'partially_paid', 'completed', 'expired', 'cancelled')",
    },
    {
      name: 'payment_links_amount_status_check',
      expression: "amount_status in ('none', 'underpaid', 'exact', 'overpaid', 'late')",
    },
    {
      name: 'payment_links_amount_check',
      expression: 'amount_cents > 0 and least_units > 0 and least_units <= amount_units and paid_units >= 0',
    },
    { name: 'payment_links_events_check', expression: 'event_sequence >= 0 and partial_units >= 0' },
    { name: 'payment_links_sums_check', expression: 'assigned_units >= paid_units and open_count >= 0' },
    {
      name: 'payment_links_completed_check',
      expression: "(status = 'completed') = (completed_at is not null)",
    },
  ],
});

/**
 * A hosted checkout. Amounts in units are USDT with 18 decimals, whatever network pays;
 * the USDT amount is fixed when the link is made.
 */
export class PaymentLink extends schema.class {}
schema.setClass(PaymentLink);
