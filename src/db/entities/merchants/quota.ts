import { defineEntity, p } from '@mikro-orm/core';
import type { Mode } from '../../../domain/assets.ts';
import { Merchant } from './merchant.ts';

const schema = defineEntity({
  name: 'Quota',
  tableName: 'quotas',
  properties: {
    merchantId: () => p.manyToOne(Merchant).mapToPk().fieldName('merchant_id').primary(),
    mode: p.string().length(4).$type<Mode>().primary(),
    quota: p.string().length(20).primary(),
    most: p.bigint('string'),
    /** Events that calls asked for on `usedOn`; other quotas are counted from the rows that exist. */
    used: p.bigint('string'),
    usedOn: p.date(),
  },
  checks: [
    { name: 'quotas_mode_check', expression: "mode in ('live', 'test')" },
    {
      name: 'quotas_quota_check',
      expression: "quota in ('customers', 'endpoints', 'events_per_day', 'open_links')",
    },
    { name: 'quotas_numbers_check', expression: 'most >= 0 and used >= 0' },
  ],
});

/** The most that a merchant may have of something in a mode. */
export class Quota extends schema.class {}
schema.setClass(Quota);
