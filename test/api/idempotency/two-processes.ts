import { migratedDatabase } from '../../../dev/support/parts.ts';
import { type Answer, startTestApi, type TestApi } from '../../support/gateway.ts';
import { post } from '../../support/once.ts';

/** Two processes of one gateway over one database. */
export type TwoProcesses = {
  readonly api: TestApi;
  readonly other: TestApi;
  /** How far the clock of both is ahead of ours. */
  readonly clock: { aheadMs: number };
  /** The workflow ids of the actors that either has started. */
  readonly started: string[];
  stop(): Promise<void>;
};

/** Starts both over a database of their own. */
export async function startTwo(): Promise<TwoProcesses> {
  const database = await migratedDatabase();
  const clock = { aheadMs: 0 };
  const started: string[] = [];
  const now = () => new Date(Date.now() + clock.aheadMs);
  const actors = {
    start: async (workflowId: string) => void started.push(workflowId),
    wake: async () => undefined,
    running: async () => new Set<string>(),
    isUnresponsive: async () => false,
  };
  const api = await startTestApi({ databaseUrl: database.url, deps: { now }, actors });
  const other = await startTestApi({
    databaseUrl: database.url,
    deps: { now, secretBox: api.deps.secretBox },
    actors,
  });
  return {
    api,
    other,
    clock,
    started,
    stop: async () => {
      await api.stop();
      await other.stop();
      await database.drop();
    },
  };
}

/** Asks for a webhook endpoint under this Idempotency-Key. */
export function newEndpoint(api: TestApi, once: string, key = api.keys.test): Promise<Answer> {
  return post(api, '/webhook-endpoints', once, { url: 'http://127.0.0.1:9/', events: '*' }, key);
}
