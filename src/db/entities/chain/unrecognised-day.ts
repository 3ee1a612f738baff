import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'UnrecognisedDay',
  tableName: 'unrecognised_days',
  properties: {
    network: p.string().length(8).$type<Network>().primary(),
    contractAddress: p.string().length(64).primary(),
    /** UTC, as in 2026-11-22. */
    day: p.string().length(10).primary(),
    kept: p.integer(),
    leftOut: p.bigint('number'),
  },
  indexes: [{ name: 'unrecognised_days_day_index', properties: ['day'] }],
});

/** How many transfers of one stranger's token were kept on one day, and how many were left out. */
export class UnrecognisedDay extends schema.class {}
schema.setClass(UnrecognisedDay);
