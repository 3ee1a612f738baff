import { isOverdue, listLoopRuns } from '../../loop-runs.ts';
import type { ConditionKind } from './condition.ts';

export const loop: ConditionKind = {
  name: 'loop',
  label: 'loops',
  well: async (deps) =>
    (await listLoopRuns(deps)).length > 0
      ? 'every background loop ran well lately'
      : 'no worker has run over this database yet',
  namedBy: '"doctor"',
  read: async (deps) => ({
    found: (await listLoopRuns(deps)).filter(isOverdue).map(({ name, ageMs, fault }) => ({
      key: `loop:${name}`,
      severity: 'warning',
      reason: `the background loop "${name}" has not run well for ${Math.floor(ageMs / 1_000)} s${fault ? `: ${fault}` : ''}`,
      action: 'see that a worker runs ("doctor"), and look into its log for "a background loop failed"',
    })),
  }),
};
