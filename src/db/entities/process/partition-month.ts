import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'PartitionMonth',
  tableName: 'partition_months',
  properties: {
    /** The partitions of this row reach to the month of the next row; the newest ones have no end. */
    firstMonth: p.date().primary(),
    madeAt: p.datetime().columnType('timestamptz'),
    detachedAt: p.datetime().columnType('timestamptz').nullable(),
    detachedBy: p.string().length(120).nullable(),
    detachedReason: p.string().length(500).nullable(),
  },
  checks: [{ name: 'partition_months_first_check', expression: 'extract(day from first_month) = 1' }],
});

/** One month of the tables that are partitioned. */
export class PartitionMonth extends schema.class {}
schema.setClass(PartitionMonth);
