import { defineEntity, p } from '@mikro-orm/core';

/** How much a notice matters, in the words of the alerts. */
export type Severity = 'critical' | 'warning' | 'info';

const schema = defineEntity({
  name: 'Notice',
  tableName: 'notices',
  properties: {
    id: p.uuid().primary(),
    /** What it is about, by which it is found again. */
    key: p.string().length(200),
    kind: p.string().length(40),
    severity: p.string().length(8).$type<Severity>(),
    reason: p.string().length(1000),
    action: p.string().length(1000),
    /** When it was seen first and last. */
    seenAt: p.datetime().columnType('timestamptz'),
    lastSeenAt: p.datetime().columnType('timestamptz'),
    /** Null while it may be one that passes. */
    beganAt: p.datetime().columnType('timestamptz').nullable(),
    endedAt: p.datetime().columnType('timestamptz').nullable(),
    beganToldAt: p.datetime().columnType('timestamptz').nullable(),
    endedToldAt: p.datetime().columnType('timestamptz').nullable(),
    tries: p.integer().default(0),
    /** When what is not told yet is tried next; null where nothing is left to tell. */
    nextTryAt: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(300).nullable(),
  },
  uniques: [{ name: 'notices_open_unique', properties: ['key'], where: 'ended_at is null' }],
  checks: [
    { name: 'notices_severity_check', expression: "severity in ('critical', 'warning', 'info')" },
    {
      name: 'notices_order_check',
      expression: 'last_seen_at >= seen_at and began_at >= seen_at and ended_at >= began_at',
    },
    { name: 'notices_ended_check', expression: 'ended_at is null or began_at is not null' },
    {
      name: 'notices_told_check',
      expression:
        '(began_told_at is null or began_at is not null) and (ended_told_at is null or ended_at is not null)',
    },
    { name: 'notices_tries_check', expression: 'tries >= 0' },
  ],
});

/** A condition that an operator is told of, once when it begins and once when it ends. */
export class Notice extends schema.class {}
schema.setClass(Notice);
