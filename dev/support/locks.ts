import type { Orm } from '../../src/db/orm.ts';
import { run, sql } from '../../src/db/sql.ts';

/**
 * From now on a statement that changes a deposit waits for its row until the
 * statement's own time is up, instead of giving up sooner: for drills that must see two
 * of them wait at once, whatever else the machine does.
 */
export async function waitLongForLocks(orm: Orm): Promise<void> {
  const em = orm.em.fork();
  await run(
    em,
    sql`create or replace function wait_long() returns trigger language plpgsql as
        $wait$ begin perform set_config('lock_timeout', '0', true); return null; end $wait$`,
  );
  await run(
    em,
    sql`create or replace trigger wait_long before update
      on deposits for each statement execute function wait_long()`,
  );
}
