// Nodes of Tron write amounts as JSON numbers, and a number of JavaScript is exact only up to 2^53.

/** An integer as it is written; no amount of any chain has more digits than 256 bits. */
const INTEGER = /^-?\d{1,78}$/;

/** Where a value came from: its text, and the way to it within that. */
type Source = { readonly text: string; readonly at?: number };
const SOURCES = new WeakMap<object, Source>();

/**
 * Reads JSON at the full speed of `JSON.parse`, so integers beyond the safe ones are rounded, and remembers
 * the text as long as the value lives, for {@link exactly}. Throws what `JSON.parse` throws.
 */
export function parseTronJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value === 'object' && value !== null) SOURCES.set(value, { text });
  for (const [at, block] of blocksIn(value).entries())
    if (typeof block === 'object' && block !== null) SOURCES.set(block, { text, at });
  return value;
}

/** The blocks of an answer that holds several, each of which is read on its own. */
function blocksIn(value: unknown): readonly unknown[] {
  const blocks = (value as { readonly block?: unknown } | null)?.block;
  return Array.isArray(blocks) ? blocks : [];
}

/**
 * The same value, read once more with every integer exact. It must be what `parseTronJson` returned, or one
 * block of a list that it returned; anything else comes back as it is.
 */
export function exactly(value: unknown): unknown {
  const source = typeof value === 'object' && value !== null ? SOURCES.get(value) : undefined;
  if (!source) return value;
  const whole = parseExactJson(source.text);
  return source.at === undefined ? whole : blocksIn(whole)[source.at];
}

/**
 * Reads JSON with every integer exact: beyond the safe integers it becomes a bigint. About five times as slow
 * as `JSON.parse`, whose errors it throws.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exact as Reviver);
}

type Reviver = Parameters<typeof JSON.parse>[1];

/** The third argument, with the text of the value, is newer than the types of the library. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const { source } = context;
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
}
