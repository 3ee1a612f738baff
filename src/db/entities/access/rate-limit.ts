import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'RateLimit',
  tableName: 'rate_limits',
  properties: {
    /** The name of the limit, and whose it is. */
    id: p.string().length(80).primary(),
    /** What is left; below zero where several processes together took more than there was. */
    tokens: p.double(),
    /** When it was counted, or when its window began. */
    since: p.datetime().columnType('timestamptz'),
  },
});

/** What one client has left of one limit. */
export class RateLimit extends schema.class {}
schema.setClass(RateLimit);
