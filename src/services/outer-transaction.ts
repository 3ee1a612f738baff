import type { Em, Orm } from '../db/orm.ts';
import { beyondLimit } from '../db/time-limit.ts';
import type { OutboxRow } from '../domain/actor-message.ts';
import type { Deps, OuterTransaction } from './deps.ts';
import { performOutboxRows } from './outbox.ts';

/** An open transaction around use cases. */
export type Around = {
  readonly em: Em;
  /**
   * Runs use cases behind a savepoint: with deps whose only way to the database is this transaction. When `use` throws, everything that
   * it did is taken back, the enqueued starts too, and the error goes on to the caller, who may still commit something else.
   */
  run<T>(use: (joined: Deps) => Promise<T>): Promise<T>;
};

/** Names to look up and prices that one request may ask for; more is a defect, not a request. */
const MAX_BEFOREHAND = 4;

/**
 * One SQL transaction around whole use cases. Their own transactions become savepoints in it, and what they ask of Temporal is performed
 * after the commit. A use case that needs the world outside (see `beforehand` in transact.ts) makes the transaction be given up: the work
 * is done while no connection is held, then `work` runs once more from its start and finds the result there.
 */
export async function transactAround<T>(deps: Deps, work: (around: Around) => Promise<T>): Promise<T> {
  const outside: Promise<unknown>[] = [];
  for (;;) {
    const turn = await attempt(deps, outside, work);
    if (!('missing' in turn)) return turn.result;
    if (outside.length >= MAX_BEFOREHAND) throw new Error('a use case asks for too much work before its transaction');
    const missing = turn.missing();
    // A failure belongs to the use case: it meets it where it asked.
    await missing.catch(() => undefined);
    outside.push(missing);
  }
}

type Work = () => Promise<unknown>;
type Turn<T> = { readonly result: T } | { readonly missing: Work };

class NotYetDone extends Error {
  override readonly name = 'NotYetDone';
}

async function attempt<T>(deps: Deps, outside: readonly Promise<unknown>[], work: (around: Around) => Promise<T>): Promise<Turn<T>> {
  const rows: OutboxRow[] = [];
  const missing: Work[] = [];
  let next = 0;
  const beforehand = <R>(wanted: () => Promise<R>): Promise<R> => {
    const known = outside[next];
    next += 1;
    if (known) return known as Promise<R>;
    missing.push(wanted);
    const refused = Promise.reject(new NotYetDone('the work is done outside first, then the use case runs again'));
    // A use case may look at it later than at once.
    refused.catch(() => undefined);
    return refused;
  };
  try {
    const result = await deps.orm.em.fork().transactional(async (em) => {
      const value = await work({ em, run: (use) => runBehindSavepoint(deps, { em, beforehand, rows }, use) });
      // The use case may have swallowed the refusal; what it made of it must not be committed.
      if (missing.length > 0) throw new NotYetDone('the use case went on without a result that it asked for');
      return value;
    });
    void beyondLimit(() => performOutboxRows(deps, rows));
    return { result };
  } catch (error) {
    const [first] = missing;
    if (first) return { missing: first };
    throw error;
  }
}

type Open = { readonly em: Em; readonly beforehand: OuterTransaction['beforehand']; readonly rows: OutboxRow[] };

async function runBehindSavepoint<T>(deps: Deps, open: Open, use: (joined: Deps) => Promise<T>): Promise<T> {
  const rows: OutboxRow[] = [];
  let over = false;
  const result = await open.em.transactional(async (em) => {
    const outer = { beforehand: open.beforehand, afterCommit: (enqueued: readonly OutboxRow[]) => void rows.push(...enqueued) };
    try {
      return await use({ ...deps, orm: onlyInside(deps.orm, em, () => over), outer });
    } finally {
      over = true;
    }
  });
  open.rows.push(...rows);
  return result;
}

const SENTENCE =
  'inside a transaction around use cases the database is reached by deps.orm.em.fork() alone, and only until the use case ends';

/** The ORM with every door closed but one: forks that work on the transaction's own connection. */
function onlyInside(orm: Orm, em: Em, isOver: () => boolean): Orm {
  const fork = (): Em => {
    if (isOver()) throw new Error(SENTENCE);
    return forkOf(em);
  };
  return closed(orm, { em: closed(orm.em, { fork }) });
}

/** `begin` of a fork would open a transaction beside this one, and nobody would notice. `transactional` makes a savepoint. */
function forkOf(em: Em): Em {
  const begin = (): never => {
    throw new Error(SENTENCE);
  };
  return Object.assign(em.fork({ keepTransactionContext: true }), { begin });
}

function closed<T extends object>(target: T, open: object): T {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(open, name)) return Reflect.get(open, name);
      throw new Error(`${SENTENCE}; "${String(name)}" was asked for`);
    },
  });
}
