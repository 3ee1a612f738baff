import { defineEntity, p } from '@mikro-orm/core';

const schema = defineEntity({
  name: 'LoopRun',
  tableName: 'loop_runs',
  properties: {
    name: p.string().length(40).primary(),
    everyMs: p.integer(),
    knownSince: p.datetime().columnType('timestamptz'),
    startedAt: p.datetime().columnType('timestamptz').nullable(),
    leaseUntil: p.datetime().columnType('timestamptz').nullable(),
    lastGoodAt: p.datetime().columnType('timestamptz').nullable(),
    failingSince: p.datetime().columnType('timestamptz').nullable(),
    lastError: p.string().length(300).nullable(),
  },
  checks: [{ name: 'loop_runs_every_check', expression: 'every_ms > 0' }],
});

/** When a background loop of the workers last ran well. */
export class LoopRun extends schema.class {}
schema.setClass(LoopRun);
