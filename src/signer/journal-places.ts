// What is kept in memory of each line of the journal: some numbers, and the keys by which it is asked for.

const CHUNK = 1 << 16;
const STRIDE = 4;
const HIGH = 2 ** 32;

/** Of each line where it begins in the file, and three numbers: sixteen bytes. Lines count from 1 on. */
export class LineNumbers {
  readonly #chunks: Uint32Array[] = [];
  length = 0;

  /** `code` is below 256; `seconds` and `nonce` below 2^32. */
  add(at: number, code: number, seconds: number, nonce: number): void {
    const place = (this.length % CHUNK) * STRIDE;
    if (place === 0) this.#chunks.push(new Uint32Array(CHUNK * STRIDE));
    const chunk = this.#chunks.at(-1) as Uint32Array;
    chunk[place] = at % HIGH;
    chunk[place + 1] = Math.floor(at / HIGH) * 256 + code;
    chunk[place + 2] = seconds;
    chunk[place + 3] = nonce;
    this.length += 1;
  }

  at(n: number): number {
    return this.#get(n, 0) + Math.floor(this.#get(n, 1) / 256) * HIGH;
  }

  code(n: number): number {
    return this.#get(n, 1) % 256;
  }

  seconds(n: number): number {
    return this.#get(n, 2);
  }

  nonce(n: number): number {
    return this.#get(n, 3);
  }

  #get(n: number, which: number): number {
    return this.#chunks[Math.floor((n - 1) / CHUNK)]?.[((n - 1) % CHUNK) * STRIDE + which] ?? 0;
  }
}

const BUCKETS = 1 << 16;
const ENTRY = 3;
const PAGE_ENTRIES = 16;
/** Its entries, and which page of the same bucket was filled before it. */
const PAGE = PAGE_ENTRIES * ENTRY + 2;
const POOL_PAGES = 4_096;

/**
 * Which lines name a key, by the last 32 bits of it: six bytes for each key of a line. Two keys may share
 * them, so whoever asks compares the whole key with the line.
 */
export class KeyIndex {
  readonly #pools: Uint16Array[] = [];
  #pages = 0;
  /** Of each bucket its newest page, counted from 1 on, and how many entries that has. */
  readonly #newest = new Uint32Array(BUCKETS);
  readonly #used = new Uint8Array(BUCKETS);

  /** `tail` is below 2^32. */
  add(tail: number, n: number): void {
    const bucket = tail % BUCKETS;
    let page = this.#newest[bucket] ?? 0;
    let used = this.#used[bucket] ?? 0;
    if (page === 0 || used === PAGE_ENTRIES) {
      page = this.#pageAfter(page);
      this.#newest[bucket] = page;
      used = 0;
    }
    this.#used[bucket] = used + 1;
    const pool = this.#poolOf(page);
    const at = startOf(page) + used * ENTRY;
    pool[at] = tail >>> 16;
    pool[at + 1] = n;
    pool[at + 2] = n >>> 16;
  }

  /** The newest line first, until `isLast` says that no other one is wanted. */
  visit(tail: number, isLast: (n: number) => boolean): void {
    const bucket = tail % BUCKETS;
    const wanted = tail >>> 16;
    let used = this.#used[bucket] ?? 0;
    let last = 0;
    for (let page = this.#newest[bucket] ?? 0; page > 0; used = PAGE_ENTRIES) {
      const pool = this.#poolOf(page);
      const start = startOf(page);
      for (let at = start + (used - 1) * ENTRY; at >= start; at -= ENTRY) {
        if (pool[at] !== wanted) continue;
        const n = numberIn(pool, at + 1);
        if (n !== last && isLast(n)) return;
        last = n;
      }
      page = numberIn(pool, start + PAGE - 2);
    }
  }

  #pageAfter(before: number): number {
    if (this.#pages % POOL_PAGES === 0) this.#pools.push(new Uint16Array(POOL_PAGES * PAGE));
    this.#pages += 1;
    const pool = this.#poolOf(this.#pages);
    const at = startOf(this.#pages) + PAGE - 2;
    pool[at] = before;
    pool[at + 1] = before >>> 16;
    return this.#pages;
  }

  #poolOf(page: number): Uint16Array {
    return this.#pools[Math.floor((page - 1) / POOL_PAGES)] as Uint16Array;
  }
}

const startOf = (page: number): number => ((page - 1) % POOL_PAGES) * PAGE;
const numberIn = (pool: Uint16Array, at: number): number => (pool[at] ?? 0) + (pool[at + 1] ?? 0) * 65_536;
