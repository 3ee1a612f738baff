import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'RowCountChange',
  tableName: 'row_count_changes',
  properties: {
    id: p.bigint('string').primary().autoincrement(),
    list: p.string().length(20),
    merchantId: p.uuid(),
    mode: p.string().length(4).$type<Mode>(),
    rows: p.bigint('number'),
  },
  indexes: [{ name: 'row_count_changes_list_index', properties: ['list', 'merchantId', 'mode'] }],
});

/** Rows of a list that are not in `row_counts` yet. Written by the database with the rows themselves. */
export class RowCountChange extends schema.class {}
schema.setClass(RowCountChange);
