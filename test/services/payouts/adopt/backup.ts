// A backup of a database that is in use, and its restore: every row as it was, and nothing that came since.
import type { Em } from '../../../../src/db/orm.ts';
import type { Deps } from '../../../../src/services/deps.ts';

export type Backup = { restore(): Promise<void> };

const SCHEMA = 'backed_up';

/** Backs up every row. There is one backup at a time. */
export async function backUp({ orm }: Pick<Deps, 'orm'>): Promise<Backup> {
  const tables = await tablesOf(orm.em.fork());
  await orm.em.fork().transactional(async (em) => {
    await em.execute(`drop schema if exists ${SCHEMA} cascade`);
    await em.execute(`create schema ${SCHEMA}`);
    for (const { name } of tables) await em.execute(`create table ${SCHEMA}.${name} as table public.${name}`);
  });
  return {
    // As a restore does: past every guard, because what was dumped was held to them.
    restore: () =>
      orm.em.fork().transactional(async (em) => {
        await em.execute("set local session_replication_role = 'replica'");
        await em.execute(`truncate ${tables.map(({ name }) => `public.${name}`).join(', ')}`);
        for (const { name, columns } of tables)
          await em.execute(
            `insert into public.${name} (${columns}) overriding system value select ${columns} from ${SCHEMA}.${name}`,
          );
      }),
  };
}

async function tablesOf(em: Em): Promise<{ readonly name: string; readonly columns: string }[]> {
  return await em.execute(
    `select quote_ident(c.relname) as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     group by c.relname order by c.relname`,
  );
}
