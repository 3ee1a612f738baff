import { createHash } from 'node:crypto';

/**
 * The UUID (version 8) of a thing that is known by words alone: the
 * same words, the first of which is its kind, always give the same id.
 */
export function idFrom(words: readonly [kind: string, ...names: string[]]): string {
  const name = words.join('\n');
  const bytes = createHash('sha256').update(name).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
