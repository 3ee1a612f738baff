import { readOutbox } from '../../outbox/state.ts';
import type { ConditionKind } from './condition.ts';

/** Longer than a worker needs to take over what the process that wrote a message did not send. */
const AFTER_MS = 60_000;

/** Messages to actors. */
export const outbox: ConditionKind = {
  name: 'outbox',
  label: 'outbox',
  well: 'nothing waits for Temporal',
  read: async (deps) => {
    const { oldestMs, oldestError, quarantined, mayBeMore } = await readOutbox(deps);
    const [first] = quarantined;
    const waits = oldestMs > AFTER_MS;
    if (!waits && !first) return { found: [] };
    const why = oldestError ? ` (${oldestError})` : '';
    const atLeast = mayBeMore ? 'at least ' : '';
    const told = [
      ...(waits ? [`a message to an actor waits for ${Math.floor(oldestMs / 1_000)} s${why}`] : []),
      ...(first
        ? [
            `Temporal refuses ${atLeast}${quarantined.length} messages for good, the first to ${first.workflowId}: ${first.error}`,
          ]
        : []),
    ];
    const action = first
      ? 'do what the refusal says (a missing search attribute: start a worker of this version), then run "repair"'
      : 'see that Temporal answers and that a worker runs ("doctor")';
    const count = quarantined.length + (waits ? 1 : 0);
    return { found: [{ key: 'outbox', severity: 'critical', count, reason: told.join('; '), action }] };
  },
};
