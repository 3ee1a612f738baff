import { defineEntity, p } from '@mikro-orm/core';
import { Event } from './event.ts';
import { WebhookEndpoint } from './webhook-endpoint.ts';

const schema = defineEntity({
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
  indexes: [
    { name: 'webhook_deliveries_event_index', properties: ['eventId'] },
    { name: 'webhook_deliveries_list_index', properties: ['endpointId', 'createdAt', 'id'] },
    { name: 'webhook_deliveries_pending_index', properties: ['createdAt'], where: "status = 'pending'" },
    {
      name: 'webhook_deliveries_due_index',
      properties: ['nextAttemptAt', 'id'],
      where: "status = 'pending'",
    },
    {
      name: 'webhook_deliveries_test_index',
      properties: ['testMerchantId'],
      where: "status = 'pending' and test_merchant_id is not null",
    },
    {
      name: 'webhook_deliveries_failed_index',
      properties: ['endpointId', 'finishedAt'],
      where: "status = 'failed'",
    },
  ],
  checks: [
    { name: 'webhook_deliveries_id_check', expression: 'id = id_of_delivery(event_id, endpoint_id)' },
    { name: 'webhook_deliveries_status_check', expression: "status in ('pending', 'succeeded', 'failed')" },
    { name: 'webhook_deliveries_round_check', expression: 'round >= 1 and round <= 1000000' },
  ],
});

/** One event to one endpoint. */
export class WebhookDelivery extends schema.class {}
schema.setClass(WebhookDelivery);
