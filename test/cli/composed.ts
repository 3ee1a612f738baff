import { eventually } from '../../dev/support/eventually.ts';
import { composeGateway, type Gateway } from '../../src/app/compose.ts';
import { locateKeys } from '../../src/app/process.ts';
import { createLogger } from '../../src/base/log.ts';
import { loadConfig } from '../../src/config/index.ts';
import type { Env } from './support.ts';

/** How long a test waits for what a running gateway does by itself. */
export const LIMIT_MS = 60_000;

/** A gateway in this process, over the stores and with the keys that commands of this environment have. */
export async function composeOver(env: Env): Promise<Gateway> {
  const config = loadConfig(env);
  const log = createLogger({ level: 'silent' });
  const keys = await locateKeys(config, log);
  const temporal = env['TEMPORAL_ADDRESS'];
  const environment = {
    databaseUrl: env['DATABASE_URL'] ?? '',
    temporal: temporal === undefined ? undefined : { address: temporal, namespace: 'default' },
    ...keys,
  };
  return await composeGateway({ config, environment, log, name: 'test', poolSize: 2 });
}

export type Looks = ReturnType<typeof looksInto>;

/** What waits ask the database, because a process for each look would cost more than what is waited for. */
export function looksInto({ deps }: Gateway) {
  const rows = async <T>(sql: string, values: unknown[] = []) =>
    await deps.orm.em.fork().execute<T[]>(sql, values);
  const firstRow = async (sql: string, values: unknown[]): Promise<{ id: string } | undefined> =>
    (await rows<{ id: string }>(sql, values))[0];
  const reached = async (network: string, column: string): Promise<number> => {
    const [row] = await rows<{ at: string }>(`select ${column} as at from chain_cursors where network = ?`, [
      network,
    ]);
    return Number(row?.at ?? -1);
  };
  return {
    firstRow,
    inState: (id: string, status: string) =>
      eventually(
        `${id} ${status}`,
        () => firstRow('select id from deposits where id = ? and status = ?', [id, status]),
        LIMIT_MS,
      ),
    allDelivered: () =>
      eventually(
        'every delivery',
        async () => !(await firstRow(`select id from webhook_deliveries where status = 'pending'`, [])),
        LIMIT_MS,
      ),
    nextWalletIndex: async (): Promise<number> => {
      const [row] = await rows<{ next: string }>('select last_value + 1 as next from wallet_index_seq');
      return Number(row?.next);
    },
    /** The newest block of BSC that was read for the first time; -1 where none was. */
    scannedNumber: () => reached('bsc', 'scanned_number'),
    /** The newest block of Tron that was read twice; -1 where none was. */
    readTwiceNumber: () => reached('tron', 'verified_number'),
  };
}
