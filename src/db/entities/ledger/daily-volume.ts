import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { UnitsType } from '../../units-type.ts';

const schema = defineEntity({
  name: 'DailyVolume',
  tableName: 'daily_volumes',
  properties: {
    merchantId: p.uuid().primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    day: p.date().primary(),
    cents: p.type(UnitsType).$type<bigint>(),
    deposits: p.bigint('number'),
  },
});

/**
 * What was completed on one UTC day and is not in `daily_volume_changes` any more. It is no volume by itself.
 */
export class DailyVolume extends schema.class {}
schema.setClass(DailyVolume);
