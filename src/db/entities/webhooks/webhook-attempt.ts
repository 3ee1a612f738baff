import { defineEntity, p } from '@mikro-orm/core';
import { WebhookDelivery } from './webhook-delivery.ts';

const schema = defineEntity({
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
  checks: [{ name: 'webhook_attempts_number_check', expression: 'number >= 1 and number <= 6' }],
});

/** One POST of a delivery. */
export class WebhookAttempt extends schema.class {}
schema.setClass(WebhookAttempt);
