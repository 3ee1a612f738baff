import type { Reference } from './accounts.ts';

/** It can land for so long, by the chain's clock or by ours, whichever is ahead. */
const LIFE_MS = 10 * 60_000;

/** Terms of a transaction that begins now and names a block that nothing can replace. */
export function termsAt({ bytes, hash, timestampMs }: Reference, nowMs: number, feeLimit: bigint) {
  const timestamp = Math.max(nowMs, timestampMs);
  return {
    fee_limit: feeLimit.toString(),
    ref_block_bytes: bytes,
    ref_block_hash: hash,
    timestamp,
    expiration: timestamp + LIFE_MS,
  };
}
