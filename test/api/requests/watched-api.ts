import { migratedDatabase } from '../../../dev/support/parts.ts';
import { openOrm } from '../../../src/db/orm.ts';
import { startTestApi, type TestApi, type TestApiOptions } from '../../support/gateway.ts';

/** An API over a database of its own, and somebody else who looks into that and locks what is in it. */
export type WatchedApi = {
  readonly api: TestApi;
  /** The statements that connections of this program (of the API itself, unless named) are at work with. */
  working(program?: string): Promise<string[]>;
  /** Does `work` while this statement's locks are held. */
  whileLocked(statement: string, work: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
};

/** Starts both with the options for a database that is at this URL. */
export async function startWatched(
  options: (url: string) => TestApiOptions | Promise<TestApiOptions>,
): Promise<WatchedApi> {
  const database = await migratedDatabase();
  const { url } = database;
  const outside = await openOrm({ url, poolSize: 2, applicationName: 'outside', statementTimeoutMs: 0 });
  const api = await startTestApi({ databaseUrl: url, ...(await options(url)) });
  return {
    api,
    working: async (program = 'test') => {
      const rows = await outside.em.fork().execute<{ query: string }[]>(
        `select query from pg_stat_activity where datname = current_database() and application_name = ?
           and state <> 'idle'`,
        [program],
      );
      return rows.map(({ query }) => query);
    },
    whileLocked: (statement, work) =>
      outside.em.fork().transactional(async (em) => {
        await em.execute(statement);
        await work();
      }),
    stop: async () => {
      await outside.close(true);
      await api.stop();
      await database.drop();
    },
  };
}
