import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../domain/assets.ts';
import { Merchant } from './merchants.ts';
import { PaymentLink } from './payment-links.ts';

/** A replaced secret that still signs beside the newest one until its time: sealed, in base64. */
export type EarlierSecret = { readonly sealed: string; readonly until: string };

const webhookEndpointSchema = defineEntity({
  name: 'WebhookEndpoint',
  tableName: 'webhook_endpoints',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    url: p.string().length(2048),
    description: p.string().length(500).nullable(),
    events: p.array(),
    enabled: p.boolean(),
    secretSealed: p.blob(),
    secretHint: p.string().length(16),
    earlierSecrets: p.json().$type<EarlierSecret[]>(),
    lastDeliveryAt: p.datetime().columnType('timestamptz').nullable(),
    lastStatusCode: p.integer().nullable(),
    consecutiveFailures: p.integer(),
    failingSince: p.datetime().columnType('timestamptz').nullable(),
    goneSince: p.datetime().columnType('timestamptz').nullable(),
    goneCount: p.integer(),
    disabledReason: p.string().length(200).nullable(),
    /**
     * Set on the endpoint that stands for a payment link's own webhook URL; its
     * id is the link's, and no list shows it.
     */
    paymentLinkId: () =>
      p.manyToOne(PaymentLink).mapToPk().fieldName('payment_link_id').nullable().deleteRule('no action'),
    createdAt: p.datetime().columnType('timestamptz'),
    updatedAt: p.datetime().columnType('timestamptz'),
    deletedAt: p.datetime().columnType('timestamptz').nullable(),
  },
  uniques: [
    {
      name: 'webhook_endpoints_payment_link_unique',
      properties: ['paymentLinkId'],
      where: 'payment_link_id is not null',
    },
  ],
});

/** A registered URL with its sealed secrets and its health. */
export class WebhookEndpoint extends webhookEndpointSchema.class {}
webhookEndpointSchema.setClass(WebhookEndpoint);

const webhookSlotSchema = defineEntity({
  name: 'WebhookSlot',
  tableName: 'webhook_slots',
  properties: {
    /** The endpoint. */
    ownerId: p.uuid().primary(),
    slot: p.smallint().primary(),
    /** In the past for a slot that is free. */
    heldUntil: p.datetime().columnType('timestamptz'),
  },
});

/** One of the connections that an endpoint may have at a time, held by the attempt that uses it. */
export class WebhookSlot extends webhookSlotSchema.class {}
webhookSlotSchema.setClass(WebhookSlot);

const eventSchema = defineEntity({
  name: 'Event',
  tableName: 'events',
  properties: {
    id: p.uuid().primary(),
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id'),
    mode: p.string().length(4).$type<Mode>(),
    type: p.string().length(40),
    subjectId: p.uuid(),
    /** The deposit's sequence; with the subject and the time it makes the id. */
    sequence: p.integer(),
    body: p.blob(),
    occurredAt: p.datetime().columnType('timestamptz'),
    createdAt: p.datetime().columnType('timestamptz'),
  },
});

/** One fact, with the exact bytes that every delivery sends. */
export class Event extends eventSchema.class {}
eventSchema.setClass(Event);

const webhookDeliverySchema = defineEntity({
  name: 'WebhookDelivery',
  tableName: 'webhook_deliveries',
  properties: {
    id: p.uuid().primary(),
    eventId: () => p.manyToOne(Event).mapToPk().fieldName('event_id').createForeignKeyConstraint(false),
    endpointId: () => p.manyToOne(WebhookEndpoint).mapToPk().fieldName('endpoint_id'),
    eventType: p.string().length(40),
    status: p.string().length(10).$type<'pending' | 'succeeded' | 'failed'>(),
    round: p.integer(),
    nextAttemptAt: p.datetime().columnType('timestamptz').nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    /** The merchant, in test mode alone: open deliveries are counted by it there. */
    testMerchantId: p.uuid().nullable(),
    finishedAt: p.datetime().columnType('timestamptz').nullable(),
  },
});

/** One event to one endpoint. */
export class WebhookDelivery extends webhookDeliverySchema.class {}
webhookDeliverySchema.setClass(WebhookDelivery);

const webhookAttemptSchema = defineEntity({
  name: 'WebhookAttempt',
  tableName: 'webhook_attempts',
  properties: {
    deliveryId: () =>
      p
        .manyToOne(WebhookDelivery)
        .mapToPk()
        .fieldName('delivery_id')
        .createForeignKeyConstraint(false)
        .primary(),
    round: p.integer().primary(),
    number: p.integer().primary(),
    startedAt: p.datetime().columnType('timestamptz'),
    finishedAt: p.datetime().columnType('timestamptz').nullable(),
    statusCode: p.integer().nullable(),
    error: p.string().length(300).nullable(),
    responseBody: p.string().length(4096).nullable(),
    durationMs: p.integer().nullable(),
  },
});

/** One POST of a delivery. */
export class WebhookAttempt extends webhookAttemptSchema.class {}
webhookAttemptSchema.setClass(WebhookAttempt);
