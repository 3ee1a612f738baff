// In which order rows are looked at, so that no number of refused ones keeps others waiting.
import type { Em } from '../../db/orm.ts';
import { rows, type Statement, sql } from '../../db/sql.ts';

const PAGE = 50;
const MOST_RESTING = 1_000;
/** Looking again at what was refused takes at most this share of the time: one part in so many. */
const SHARE = 4;

/**
 * What was never refused comes first. What was refused is gone through in turn, a page at a time, and each
 * round begins only some time after the last one.
 */
export class Queue {
  readonly #retryMs: number;
  /** When each row that could not be looked at is tried again. */
  readonly #resting = new Map<string, number>();
  #after: string | undefined;
  #roundBeganAt = 0;
  #nextRoundAt = 0;

  constructor(retryMs: number) {
    this.#retryMs = retryMs;
  }

  /** Ids to look at now, and whether there may be more. */
  async next(
    em: Em,
  ): Promise<{ readonly fresh: string[]; readonly again: string[]; readonly more: boolean }> {
    const nowMs = performance.now();
    for (const [id, until] of this.#resting) if (until <= nowMs) this.#resting.delete(id);
    const fresh = await idsOf(
      em,
      sql`select id from sent_transactions where state = 'asked' and refused is null
        and not (id = any(${[...this.#resting.keys()]})) order by created_at, id limit ${PAGE}`,
    );
    const again = (await this.#refused(em, nowMs)).filter((id) => !this.#resting.has(id));
    return { fresh, again, more: fresh.length === PAGE || this.#after !== undefined };
  }

  /** Lets a row be for a while. */
  rest(id: string): void {
    if (this.#resting.size < MOST_RESTING) this.#resting.set(id, performance.now() + this.#retryMs);
  }

  async #refused(em: Em, nowMs: number): Promise<string[]> {
    if (this.#after === undefined) {
      if (nowMs < this.#nextRoundAt) return [];
      this.#roundBeganAt = nowMs;
    }
    const beyond = this.#after === undefined ? sql`true` : sql`id > ${this.#after}::uuid`;
    const ids = await idsOf(
      em,
      sql`select id from sent_transactions where state = 'asked' and refused is not null and ${beyond}
        order by id limit ${PAGE}`,
    );
    this.#after = ids.length === PAGE ? ids.at(-1) : undefined;
    if (this.#after === undefined)
      this.#nextRoundAt = nowMs + Math.max(this.#retryMs, (SHARE - 1) * (nowMs - this.#roundBeganAt));
    return ids;
  }
}

async function idsOf(em: Em, statement: Statement<unknown>): Promise<string[]> {
  return (await rows(em, statement as Statement<{ id: string }>)).map(({ id }) => id);
}
