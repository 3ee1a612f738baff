import { Connection } from '@temporalio/client';

const PROBE_TIMEOUT_MS = 2_000;

/**
 * One call to a Temporal server on this machine, over a connection of its own.
 * Rejects when it is not answered within seconds.
 */
export async function probeTemporal<T>(
  port: number,
  call: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({
    address: `127.0.0.1:${port}`,
    connectTimeout: PROBE_TIMEOUT_MS,
  });
  try {
    return await connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () => call(connection));
  } finally {
    await connection.close();
  }
}
