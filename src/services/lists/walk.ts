import type { PageOf } from './page.ts';
import type { PageRequest } from './query.ts';

/** How a list is walked through from its newest row on. */
export type Walk<T> = {
  /** Reads one page; nothing is held between two of them. */
  readonly read: (page: PageRequest) => Promise<PageOf<T>>;
  readonly idOf: (row: T) => string;
  /** Ends the walk between two pages: whoever asked for the list has gone away. */
  readonly signal: AbortSignal;
  readonly most: number;
  readonly pageSize: number;
};

/** What a walk that was not ended before has come to; `isCut`: there may be rows that it did not reach. */
export type Walked = { readonly rows: number; readonly isCut: boolean };

/**
 * The pages of a list, newest row first, each row once, whatever is added meanwhile. It holds one page at a
 * time, asks for the next when that is wanted, and reads nothing more once the signal was given. Throws what
 * reading throws.
 */
export async function* walkList<T>(walk: Walk<T>): AsyncGenerator<readonly T[], Walked> {
  const { read, idOf, signal, most, pageSize } = walk;
  let rows = 0;
  let startingAfter: string | undefined;
  while (!signal.aborted) {
    const limit = Math.min(pageSize, most - rows);
    const page = await read({ limit, uncounted: true, startingAfter });
    const last = page.rows.at(-1);
    rows += page.rows.length;
    if (last !== undefined) yield page.rows;
    if (!page.hasMore || last === undefined || rows >= most)
      return { rows, isCut: page.hasMore || page.totalIsAtLeast };
    startingAfter = idOf(last);
  }
  return { rows, isCut: true };
}
