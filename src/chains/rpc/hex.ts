// Hexadecimal values as nodes of Ethereum's kind write them.

/** A JSON-RPC quantity that is a height or a time, never money; undefined for anything else. */
export function readQuantity(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value)
    ? Number.parseInt(value, 16)
    : undefined;
}

/** A height as a JSON-RPC quantity. */
export function toQuantity(number: number): string {
  return `0x${number.toString(16)}`;
}

/**
 * A 32-byte hash in the one form in which hashes are kept and compared,
 * lower-case 0x; undefined for anything else.
 */
export function readHash(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length !== 66) return undefined;
  const hash = lower(value);
  return /^0x[0-9a-f]+$/.test(hash) ? hash : undefined;
}

/**
 * Lower case, because a node may write capitals, and two spellings of a hash would be two
 * transactions. Costs next to nothing for text without capitals.
 */
export function lower(hex: string): string {
  return hex.toLowerCase();
}

/** True where a text, in whatever case, is this one in lower case; most are, and cost no copy. */
export function isSame(text: string, lowerCase: string): boolean {
  return text === lowerCase || lower(text) === lowerCase;
}
