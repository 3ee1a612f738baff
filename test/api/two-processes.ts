import { startTestApi, type TestApi, type TestApiOptions } from '../support/gateway.ts';

/** Two processes of one gateway behind a proxy that reports the client, over one database, by one clock. */
export type TwoProcesses = {
  readonly api: TestApi;
  readonly second: TestApi;
  /** What it is for both; it stands still where no test moves it. */
  readonly clock: { ms: number };
  stop(): Promise<void>;
};

/** Starts both over a database of their own. */
export async function startTwo(more: TestApiOptions = {}): Promise<TwoProcesses> {
  const clock = { ms: Date.now() };
  const now = () => new Date(clock.ms);
  const options = { trustedProxies: ['127.0.0.1'], ...more };
  const api = await startTestApi({ ...options, deps: { now } });
  const databaseUrl = api.deps.orm.config.get('clientUrl') as string;
  const { secretBox } = api.deps;
  const second = await startTestApi({ ...options, databaseUrl, deps: { now, secretBox } });
  return {
    api,
    second,
    clock,
    stop: async () => {
      await second.stop();
      await api.stop();
    },
  };
}
