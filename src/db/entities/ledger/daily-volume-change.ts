import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'DailyVolumeChange',
  tableName: 'daily_volume_changes',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    day: p.date(),
    cents: p.type(UnitsType).$type<bigint>(),
    deposits: p.integer(),
  },
  indexes: [{ name: 'daily_volume_changes_day_index', properties: ['merchantId', 'mode', 'day'] }],
});

/** What a completion adds to its day, or a withdrawal takes back. Written by the database itself. */
export class DailyVolumeChange extends schema.class {}
schema.setClass(DailyVolumeChange);
