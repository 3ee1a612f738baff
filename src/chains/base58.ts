import { createHash } from 'node:crypto';

/** The four bytes that base58check puts behind a payload. */
export function checksum(payload: Uint8Array): Buffer {
  const once = createHash('sha256').update(payload).digest();
  return createHash('sha256').update(once).digest().subarray(0, 4);
}

/** Whether the last four bytes are the base58check checksum of the others. */
export function hasChecksum(bytes: Uint8Array): boolean {
  return checksum(bytes.subarray(0, -4)).equals(bytes.subarray(-4));
}
