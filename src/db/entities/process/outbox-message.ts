import { defineEntity, p } from '@mikro-orm/core';
import type { ActorMessage } from '../../../domain/actor-message.ts';
import type { Mode } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'OutboxMessage',
  tableName: 'outbox',
  properties: {
    id: p.bigint('string').primary(),
    kind: p.string().length(10).$type<'start' | 'signal'>(),
    workflowId: p.string().length(255),
    message: p.json().$type<ActorMessage>(),
    /** `live` for work that belongs to no merchant. */
    mode: p.string().length(4).$type<Mode>().default('live'),
    tries: p.integer(),
    /** How often Temporal refused it while it was reachable. */
    refusals: p.integer().default(0),
    /** Set after many refusals: from then on it is tried seldom, and an operator is told. */
    quarantinedAt: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(500).nullable(),
    createdAt: p.datetime().columnType('timestamptz'),
    nextTryAt: p.datetime().columnType('timestamptz'),
  },
  indexes: [
    {
      name: 'outbox_live_fresh_index',
      properties: ['nextTryAt', 'id'],
      where: "quarantined_at is null and tries = 0 and mode = 'live'",
    },
    {
      name: 'outbox_live_tried_index',
      properties: ['nextTryAt', 'id'],
      where: "quarantined_at is null and tries > 0 and mode = 'live'",
    },
    {
      name: 'outbox_live_tried_age_index',
      properties: ['id'],
      where: "quarantined_at is null and tries > 0 and mode = 'live'",
    },
    {
      name: 'outbox_test_index',
      properties: ['nextTryAt', 'id'],
      where: "quarantined_at is null and mode = 'test'",
    },
    { name: 'outbox_quarantine_pages_index', properties: ['id'], where: 'quarantined_at is not null' },
    { name: 'outbox_seldom_index', properties: ['nextTryAt', 'id'], where: 'quarantined_at is not null' },
  ],
  checks: [
    { name: 'outbox_kind_check', expression: "kind in ('start', 'signal')" },
    { name: 'outbox_mode_check', expression: "mode in ('live', 'test')" },
  ],
});

/** A start or signal that a committed transaction asked for. */
export class OutboxMessage extends schema.class {}
schema.setClass(OutboxMessage);
