import { defineEntity, p } from '@mikro-orm/core';
import type { Network } from '../../../domain/assets.ts';

const schema = defineEntity({
  name: 'Restore',
  tableName: 'restores',
  properties: {
    id: p.uuid().primary(),
    backupAt: p.datetime().columnType('timestamptz'),
    restoredAt: p.datetime().columnType('timestamptz'),
    byName: p.string().length(120),
    reason: p.string().length(500),
    /** For each chain the head that a watcher saw first after the restore: up to there it has to be read. */
    goals: p.json().$type<Partial<Record<Network, number>>>().default('{}'),
    /** When payouts were let go on. */
    overAt: p.datetime().columnType('timestamptz').nullable(),
  },
  checks: [{ name: 'restores_order_check', expression: 'over_at >= restored_at' }],
});

/** That this database was restored from a backup. */
export class Restore extends schema.class {}
schema.setClass(Restore);
