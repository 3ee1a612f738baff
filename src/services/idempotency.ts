import { createHash } from 'node:crypto';
import { pause } from '../base/async/pause.ts';
import { IdempotencyAnswer } from '../db/entities/index.ts';
import type { Em } from '../db/orm.ts';
import { firstRow, run, sql } from '../db/sql.ts';
import type { Deps } from './deps.ts';
import type { Scope } from './scope.ts';
import { savepoint, type Tx, transact } from './transact.ts';

/** How long a stored answer is given again. */
export const ANSWER_KEPT_MS = 24 * 3_600_000;
/** How often it is looked whether a request is still being worked on. */
const ASKED_EVERY_MS = 50;
const PURGE_BATCH = 1_000;
const MAX_PURGE_BATCHES = 100;

/** A request that is to be carried out once: the key is valid within one merchant, mode, method and path. */
export type KeyedRequest = Scope & {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** Hash of everything else that the request says; hex. */
  readonly requestHash: string;
  /** The same hash for this caller alone, under which an answer is kept that holds a secret. */
  readonly callersHash?: string;
};

/** `holdsSecret`: it is given again to the same caller alone. */
export type KeptAnswer = { readonly status: number; readonly body: string; readonly holdsSecret?: boolean };

/**
 * `other_request`: the key was used for another request, or for another caller's secret. `in_flight`:
 * a request with the same key is being worked on at this moment.
 */
export class IdempotencyConflict extends Error {
  override readonly name = 'IdempotencyConflict';
  readonly reason: 'other_request' | 'in_flight';

  constructor(reason: 'other_request' | 'in_flight') {
    super(`an idempotency key that is in use: ${reason}`);
    this.reason = reason;
  }
}

/** How a request is carried out. */
export type KeyedWork<P> = {
  /**
   * Asks the world outside, while no connection is held, for
   * what the effect needs; undefined if it needs nothing.
   */
  readonly prepare: (() => Promise<P>) | undefined;
  /** The effect; all of it happens in this transaction. */
  apply(tx: Tx, prepared: P | undefined): Promise<KeptAnswer>;
  /**
   * What is stored as the answer when the effect was refused with
   * this error; undefined for an error that leaves no trace.
   */
  keptRefusal(error: unknown): KeptAnswer | undefined;
};

/**
 * Carries a request out once and keeps its answer for 24 h, in the very transaction of the effect: after
 * a crash at any moment there are both or neither. When `apply` throws, the effect is rolled back; what
 * `keptRefusal` turns into an answer is stored all the same, everything else leaves no trace, nor does
 * what `prepare` throws. Throws {@link IdempotencyConflict} for a key that was used with another
 * request, or that another process or request works on right now: it never waits for that one.
 */
export async function answerOnce<P>(
  deps: Deps,
  request: KeyedRequest,
  { prepare, apply, keptRefusal }: KeyedWork<P>,
): Promise<KeptAnswer & { readonly replayed: boolean }> {
  if (prepare) {
    // For a request that was answered already, or is being worked on, nobody
    // outside is asked. The lock of this query is gone with its statement.
    const known = await claimAndFind(deps.orm.em.fork(), deps, request);
    if (known) return { ...known, replayed: true };
  }
  const prepared = await prepare?.();
  return await transact(deps, async (tx) => {
    const known = await claimAndFind(tx.em, deps, request);
    if (known) return { ...known, replayed: true };
    const answer = await savepoint(tx, (inner) => apply(inner, prepared)).catch((error: unknown) => {
      const refusal = keptRefusal(error);
      if (!refusal) throw error;
      return refusal;
    });
    await keepAnswer(tx.em, deps, request, answer);
    return { ...answer, replayed: false };
  });
}

/**
 * The answer that was kept for a request, if there is one; while another process or request works on it, up
 * to `waitMs` are waited for that. Throws {@link IdempotencyConflict} as {@link answerOnce} does.
 */
export async function keptAnswer(
  deps: Deps,
  request: KeyedRequest,
  waitMs = 0,
): Promise<KeptAnswer | undefined> {
  const endsAt = performance.now() + waitMs;
  for (;;) {
    try {
      return await claimAndFind(deps.orm.em.fork(), deps, request);
    } catch (error) {
      const isInFlight = error instanceof IdempotencyConflict && error.reason === 'in_flight';
      if (!isInFlight || performance.now() >= endsAt) throw error;
      await pause(ASKED_EVERY_MS);
    }
  }
}

/**
 * Removes answers whose time is over, which are no longer given anyway.
 * Returns how many; one turn is bounded, and the next one goes on.
 */
export async function purgeAnswers(deps: Deps): Promise<number> {
  let purged = 0;
  for (let batch = 0; batch < MAX_PURGE_BATCHES; batch += 1) {
    const removed = await run(
      deps.orm.em.fork(),
      sql`delete from idempotency_answers where id in (
        select id from idempotency_answers where expires_at <= ${deps.now()} order by expires_at
          limit ${PURGE_BATCH} for update skip locked)`,
    );
    purged += removed;
    if (removed < PURGE_BATCH) break;
  }
  return purged;
}

/**
 * Takes the lock of the key until the end of the transaction, then looks
 * for the answer. These are two statements: the row of the lock's previous
 * holder is visible only to a snapshot that is taken after the lock.
 */
async function claimAndFind(em: Em, deps: Deps, request: KeyedRequest): Promise<KeptAnswer | undefined> {
  await claim(em, request);
  return await findAnswer(em, deps, request);
}

async function claim(em: Em, request: KeyedRequest): Promise<void> {
  const scope = [request.merchantId, request.mode, request.method, request.path, request.key];
  const lock = createHash('sha256').update(JSON.stringify(scope)).digest().readBigInt64BE();
  const row = await firstRow(
    em,
    sql<{ claimed: boolean }>`select pg_try_advisory_xact_lock(${lock}) as claimed`,
  );
  if (!row?.claimed) throw new IdempotencyConflict('in_flight');
}

async function findAnswer(em: Em, deps: Deps, request: KeyedRequest): Promise<KeptAnswer | undefined> {
  const { merchantId, mode, method, path, key } = request;
  const row = await em.findOne(IdempotencyAnswer, { merchantId, mode, method, path, key });
  if (!row) return undefined;
  if (row.expiresAt <= deps.now()) {
    await em.nativeDelete(IdempotencyAnswer, { id: row.id });
    em.clear();
    return undefined;
  }
  if (![request.requestHash, request.callersHash].includes(row.requestHash))
    throw new IdempotencyConflict('other_request');
  return { status: row.status, body: deps.secretBox.open(row.bodySealed, row.id) };
}

async function keepAnswer(em: Em, deps: Deps, request: KeyedRequest, answer: KeptAnswer): Promise<void> {
  const { merchantId, mode, method, path, key } = request;
  const requestHash = (answer.holdsSecret && request.callersHash) || request.requestHash;
  const [id, createdAt] = [deps.newId(), deps.now()];
  em.create(IdempotencyAnswer, {
    id,
    merchantId,
    mode,
    method,
    path,
    key,
    requestHash,
    status: answer.status,
    bodySealed: deps.secretBox.seal(answer.body, id),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + ANSWER_KEPT_MS),
  });
  await em.flush();
}
