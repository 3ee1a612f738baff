import type { Em } from '../db/orm.ts';
import { run, sql } from '../db/sql.ts';
import type { Deps } from './deps.ts';

/** How a change that a signed-in person asks for is carried out. */
export type Within = {
  /** The caller's transaction, such as that of a kept answer; undefined for one of its own. */
  readonly em?: Em | undefined;
  /** Throws where this person may not make the change. It runs first, before anything is read or locked. */
  readonly guard?: ((em: Em) => Promise<void>) | undefined;
};

/**
 * Runs the work in one transaction, behind the guard. Throws what either throws, with nothing changed. The
 * person's row is held before any other: a guard may hold it already while it waits for the merchant's, and
 * the audit row of the work refers to it.
 */
export async function changeWithin<T>(
  deps: Pick<Deps, 'orm' | 'actor'>,
  { em: given, guard }: Within,
  work: (em: Em) => Promise<T>,
): Promise<T> {
  const guarded = async (em: Em): Promise<T> => {
    await guard?.(em);
    if (deps.actor?.kind === 'user') await holdUser(em, deps.actor.userId);
    return await work(em);
  };
  return given ? await guarded(given) : await deps.orm.em.fork().transactional(guarded);
}

/** Holds a user's row until the transaction ends; whoever takes the merchant's row too takes it after it. */
export async function holdUser(em: Em, userId: string): Promise<void> {
  await run(em, sql`select 1 from users where id = ${userId} for key share`);
}
