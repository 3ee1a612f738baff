import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
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
export class WebhookSlot extends schema.class {}
schema.setClass(WebhookSlot);
