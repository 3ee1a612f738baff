import { defineEntity, p } from '@mikro-orm/core';
import type { ActorMessage } from '../../domain/actor-message.ts';

const schema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint('string').primary(),
    kind: p.string().length(10).$type<'start' | 'signal'>(),
    workflowId: p.string().length(255),
    message: p.json().$type<ActorMessage>(),
    tries: p.integer(),
    lastError: p.string().length(500).nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    nextTryAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [{ name: 'outbox_next_try_at_index', properties: ['nextTryAt'] }],
  checks: [{ name: 'outbox_kind_check', expression: "kind in ('start', 'signal')" }],
});

/** A start or signal that a committed transaction asked for. */
export class OutboxMessage extends schema.class {}
schema.setClass(OutboxMessage);
