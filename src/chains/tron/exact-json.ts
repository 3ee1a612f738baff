// Nodes of Tron write amounts as JSON numbers, and a number of JavaScript is exact only up to 2^53.

/** An integer of 16 digits or more, as it begins outside of a text; every shorter one is exact. */
const LONG_INTEGER = /[:,[\s]-?\d{16}/;
const INTEGER = /^-?\d+$/;

/**
 * Reads JSON with every integer exact: beyond the safe integers it becomes a bigint. Texts without a long
 * integer, which are nearly all, are read at full speed. Throws what `JSON.parse` throws.
 */
export function parseExactJson(text: string): unknown {
  return LONG_INTEGER.test(text) ? JSON.parse(text, exact as Reviver) : JSON.parse(text);
}

type Reviver = Parameters<typeof JSON.parse>[1];

/** The third argument, with the text of the value, is newer than the types of the library. */
function exact(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const { source } = context;
  return source !== undefined && INTEGER.test(source) ? BigInt(source) : value;
}
