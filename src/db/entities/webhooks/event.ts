import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { Merchant } from '../merchants/merchant.ts';

const schema = defineEntity({
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
  indexes: [
    { name: 'events_subject_id_index', properties: ['subjectId'] },
    { name: 'events_list_index', properties: ['merchantId', 'mode', 'type', 'createdAt', 'id'] },
  ],
  checks: [
    { name: 'events_id_check', expression: 'id = id_of_event(occurred_at, type, subject_id, sequence)' },
  ],
});

/** One fact, with the exact bytes that every delivery sends. */
export class Event extends schema.class {}
schema.setClass(Event);
