// Hexadecimal values as nodes of Ethereum's kind write them.

/** A JSON-RPC quantity that is a height or a time, never money; undefined where it is none. */
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
 * A 32-byte hash in the one form in which hashes are kept
 * and compared, lower-case 0x; undefined where it is none.
 */
export function readHash(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length !== 66) return undefined;
  const hash = lower(value);
  return hash.startsWith('0x') ? hash : undefined;
}

/**
 * As a node may write it in capitals: two spellings of a hash would
 * be two transactions. Costs next to nothing where it does not.
 */
export function lower(hex: string): string {
  return hex.toLowerCase();
}
