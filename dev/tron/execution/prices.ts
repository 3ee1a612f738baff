// What transactions cost: the parameters of the recorded network, which are main net's of 2025.
export const PRICES = {
  /** Sun for each byte of bandwidth beyond the free ones. */
  sunPerByte: 1_000n,
  sunPerEnergy: 100n,
  /** Bytes that an account has free in a day. */
  freeNet: 600n,
  /** The room that each transaction takes for its result. */
  resultBytes: 64n,
  newAccount: 1_000_000n,
  /** In place of bandwidth, where a transfer makes an account. */
  newAccountNet: 100_000n,
  /** Energy for an account that code makes by paying it. */
  newAccountEnergy: 25_000n,
  memo: 1_000_000n,
  severalSignatures: 1_000_000n,
  permission: 100_000_000n,
} as const;

/** What witnesses may vote to change while the chain goes on. */
export type Prices = { sunPerEnergy: bigint; sunPerByte: bigint; newAccount: bigint };
