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
