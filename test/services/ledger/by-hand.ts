// The books as somebody can change them who owns the database.

import type { World } from './support.ts';

const TABLES = [
  'sent_transactions',
  'payouts',
  'deposits',
  'deposit_transitions',
  'ledger_transactions',
  'ledger_entries',
  'balance_totals',
  'balance_changes',
];

/** Runs the statements in one transaction; no trigger and no constraint stands in the way. */
export async function writeByHand(world: World, ...statements: readonly string[]): Promise<void> {
  await world.deps.orm.em.fork().transactional(async (em) => {
    await em.execute('set local session_replication_role = replica');
    for (const statement of statements) await em.execute(statement);
  });
}

/** Keeps the books as they are, for {@link restoreBooks}. */
export async function keepBooks(world: World): Promise<void> {
  for (const table of TABLES) await world.rows(`create table kept_${table} as table ${table}`);
}

/** Puts everything back that was kept. */
export async function restoreBooks(world: World): Promise<void> {
  await writeByHand(
    world,
    ...TABLES.toReversed().map((table) => `delete from ${table}`),
    ...TABLES.map((table) => `insert into ${table} table kept_${table}`),
  );
}

/** Writes a deposit so many times more, each a second younger, with the hashes 0x1, 0x2 and so on. */
export async function copyDeposit(world: World, id: string, times: number): Promise<void> {
  const changed: Readonly<Record<string, string>> = {
    id: 'gen_random_uuid()',
    transaction_hash: `'0x' || n`,
    created_at: `created_at + n * interval '1 second'`,
  };
  const columns = (
    await world.rows(`select column_name from information_schema.columns where table_name = 'deposits'`)
  ).map(({ column_name: name }) => String(name));
  const values = columns.map((name) => changed[name] ?? name);
  await writeByHand(
    world,
    `insert into deposits (${columns.join(', ')}) select ${values.join(', ')}
      from deposits, generate_series(1, ${times}) n where id = '${id}'`,
  );
}
