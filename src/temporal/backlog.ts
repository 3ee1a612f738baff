import type { Client } from '@temporalio/client';

/** What waits in one task queue, as the server estimates it; what one worker takes at once never waits. */
export type QueueBacklog = {
  readonly queue: string;
  readonly kind: QueueKind;
  /** How many workers asked for its tasks within the last minutes. */
  readonly pollers: number;
  readonly live: Waiting;
  readonly test: Waiting;
};
export type QueueKind = keyof typeof TYPES;
type Waiting = { readonly count: number; readonly ageSeconds: number };

/** The numbers that Temporal's interface uses for them. */
const TYPES = { workflow: 1, activity: 2 } as const;

type Stats = {
  readonly approximateBacklogCount?: unknown;
  readonly approximateBacklogAge?: { readonly seconds?: unknown; readonly nanos?: number | null } | null;
};

/**
 * Describes these queues, all at the same time. `testPriority` is that of test mode; every other
 * priority is live work. Throws what the server says.
 */
export async function readBacklogs(
  client: Client,
  input: {
    namespace: string;
    queues: readonly { readonly queue: string; readonly kind: QueueKind }[];
    testPriority: number;
  },
): Promise<QueueBacklog[]> {
  return await Promise.all(
    input.queues.map(async ({ queue, kind }) => {
      const found = await client.workflowService.describeTaskQueue({
        namespace: input.namespace,
        taskQueue: { name: queue },
        taskQueueType: TYPES[kind],
        reportStats: true,
      });
      const byPriority = Object.entries(found.statsByPriorityKey ?? {});
      // A server that does not tell priorities apart reports only the total, which
      // counts as live work until proven otherwise.
      const parts: readonly [string, Stats][] =
        byPriority.length > 0 ? byPriority : [['', found.stats ?? {}]];
      const isTest = ([key]: readonly [string, Stats]): boolean => key === String(input.testPriority);
      return {
        queue,
        kind,
        pollers: found.pollers?.length ?? 0,
        live: together(parts.filter((part) => !isTest(part))),
        test: together(parts.filter(isTest)),
      };
    }),
  );
}

function together(parts: readonly (readonly [string, Stats])[]): Waiting {
  const all = parts.map(([, { approximateBacklogCount: count, approximateBacklogAge: age }]) => ({
    count: Number(count ?? 0),
    ageSeconds: Number(age?.seconds ?? 0) + (age?.nanos ?? 0) / 1e9,
  }));
  // An empty queue has no oldest task, whatever age the server remembers.
  const waiting = all.filter(({ count }) => count > 0);
  return {
    count: waiting.reduce((sum, { count }) => sum + count, 0),
    ageSeconds: Math.max(0, ...waiting.map(({ ageSeconds }) => ageSeconds)),
  };
}
