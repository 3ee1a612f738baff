import { expect } from 'chai';
import type { PageOf } from '../../../src/services/lists/page.ts';
import type { PageRequest } from '../../../src/services/lists/query.ts';
import { type Walked, walkList } from '../../../src/services/lists/walk.ts';

type Item = { readonly id: string };

/** A list of so many rows, and the requests for its pages. */
function listOf(length: number, more: Partial<PageOf<Item>> = {}) {
  const all = Array.from({ length }, (_, index) => ({ id: `${index}` }));
  const asked: PageRequest[] = [];
  const read = async (page: PageRequest): Promise<PageOf<Item>> => {
    asked.push(page);
    const from =
      page.startingAfter === undefined ? 0 : all.findIndex(({ id }) => id === page.startingAfter) + 1;
    const rows = all.slice(from, from + page.limit);
    const hasMore = from + page.limit < all.length;
    return { rows, hasMore, page: null, limit: page.limit, total: 0, totalIsAtLeast: false, ...more };
  };
  return { asked, read };
}

async function walked(walk: AsyncGenerator<readonly Item[], Walked>) {
  const ids: string[] = [];
  for (;;) {
    const { value, done } = await walk.next();
    if (done) return { ids, ...value };
    ids.push(...value.map(({ id }) => id));
  }
}

const idOf = ({ id }: Item): string => id;

describe('a walk through a list', () => {
  const { signal } = new AbortController();

  for (const [length, rows, isCut, pages] of [
    [0, 0, false, 1],
    [1, 1, false, 1],
    [10, 10, false, 2],
    [11, 11, false, 3],
    [22, 22, false, 5],
    [23, 22, true, 5],
  ] as const)
    it(`has each of ${length} rows once, to the ${rows}th, in pages by cursor, uncounted`, async () => {
      const { asked, read } = listOf(length);
      const seen = await walked(walkList({ read, idOf, signal, most: 22, pageSize: 5 }));
      expect(seen).to.deep.equal({
        ids: Array.from({ length: rows }, (_, index) => `${index}`),
        rows,
        isCut,
      });
      expect(asked.length).to.equal(pages);
      expect(asked.every(({ uncounted, limit }) => uncounted && limit <= 5)).to.equal(true);
    });

  it('says so where a search may have left out rows', async () => {
    const { read } = listOf(3, { totalIsAtLeast: true });
    expect((await walked(walkList({ read, idOf, signal, most: 22, pageSize: 5 }))).isCut).to.equal(true);
  });

  it('reads nothing more once its signal was given, and no page before it is wanted', async () => {
    const { asked, read } = listOf(100);
    const gone = new AbortController();
    const walk = walkList({ read, idOf, signal: gone.signal, most: 100, pageSize: 5 });
    expect(asked.length).to.equal(0);
    await walk.next();
    expect(asked.length).to.equal(1);
    gone.abort();
    expect(await walk.next()).to.deep.equal({ done: true, value: { rows: 5, isCut: true } });
    expect(asked.length).to.equal(1);
  });
});
