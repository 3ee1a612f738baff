import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'RowCount',
  tableName: 'row_counts',
  properties: {
    list: p.string().length(20).primary(),
    merchantId: p.uuid().primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    rows: p.bigint('number'),
  },
});

/** How many rows of a list are not in `row_count_changes` any more. It is no count by itself. */
export class RowCount extends schema.class {}
schema.setClass(RowCount);
