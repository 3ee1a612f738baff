import type { Orm } from '../../src/db/orm.ts';

/**
 * The texts of the statements that are sent from now on, recorded where
 * all of them pass, whatever wrote them.
 */
export async function statementsOf(orm: Orm): Promise<string[]> {
  const sent: string[] = [];
  const heard = new WeakSet<object>();
  const pool = await orm.em.getConnection().getNativeClient();
  pool.on('acquire', (client: { query(...args: unknown[]): unknown }) => {
    if (heard.has(client)) return;
    heard.add(client);
    const query = client.query.bind(client);
    client.query = (text, ...rest) => {
      sent.push(typeof text === 'string' ? text : (text as { text: string }).text);
      return query(text, ...rest);
    };
  });
  return sent;
}
