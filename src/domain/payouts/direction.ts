// Rows that direct money say who is paid, and where: each carries a seal that nobody can make who only writes
// to the database. The services that write such a row seal it, and the signer verifies it.

/** The key of the seals, which the database does not hold. */
export type SealKey = {
  /** The bytes that every seal under this key begins with. */
  readonly mark: Uint8Array;
  /** A hash of the text as hex that only a holder of the key can make; another one for each purpose. */
  keyedHash(text: string, purpose: string): string;
};

/** Which merchant's money lies at an address of ours, and which of our keys it belongs to. */
export type AddressOwner = {
  readonly kind: 'address';
  readonly network: string;
  readonly addressKey: string;
  readonly merchantId: string;
  readonly customerId: string;
  readonly mode: string;
  readonly walletIndex: number;
};
/** Where a merchant is paid out on a network; null where nowhere, because the address was taken away. */
export type Destination = {
  readonly kind: 'destination';
  readonly network: string;
  readonly merchantId: string;
  readonly address: string | null;
};
export type Direction = AddressOwner | Destination;
/** A destination that a user asked for, which it becomes at a time; null takes the present one away. */
export type AskedDestination = {
  readonly kind: 'asked';
  readonly id: string;
  readonly network: string;
  readonly merchantId: string;
  readonly address: string | null;
  readonly contractAllowed: boolean;
  readonly askedBy: string;
  readonly askedFrom: string;
  readonly countsAt: Date;
};

/** That payouts go on which were paused: of one merchant, or (null) of all. */
export type Resumed = { readonly kind: 'resume'; readonly merchantId: string | null };
export type Sealable = Direction | AskedDestination | Resumed;

/** How far the clocks of two machines may differ. What was sealed later than so counts for nothing yet. */
export const CLOCKS_DIFFER_MS = 5 * 60_000;

/**
 * When a row is sealed that takes the place of another one: never before that, or it would be taken for an
 * older one. The earlier seal does not count where its clock ran far ahead: no signer has noted that one.
 */
export function sealTime(now: Date, before: Date | undefined): Date {
  const least = before === undefined ? 0 : before.getTime() + 1;
  return least - now.getTime() > 2 * CLOCKS_DIFFER_MS ? now : new Date(Math.max(now.getTime(), least));
}

const PURPOSE = 'rows that direct money';
const HASH_BYTES = 32;
/** A time as ISO 8601 writes it, with milliseconds. */
const TIME_BYTES = 24;

/** The seal of a row: the mark of its key, when it was made, and the keyed hash over that and the row. */
export function sealDirection(key: SealKey, direction: Sealable, at: Date): Buffer {
  const time = at.toISOString();
  const hash = key.keyedHash(JSON.stringify([...partsOf(direction), time]), PURPOSE);
  return Buffer.concat([key.mark, Buffer.from(time, 'latin1'), Buffer.from(hash, 'hex')]);
}

/** When a row was sealed; undefined where it has no seal that one of these keys made for this very row. */
export function readSeal(
  keys: readonly SealKey[],
  direction: Sealable,
  seal: Uint8Array | null | undefined,
): Date | undefined {
  for (const key of keys) {
    const begin = key.mark.length;
    if (seal?.length !== begin + TIME_BYTES + HASH_BYTES) continue;
    const at = new Date(Buffer.from(seal.subarray(begin, begin + TIME_BYTES)).toString('latin1'));
    if (!Number.isNaN(at.getTime()) && isSame(sealDirection(key, direction, at), seal)) return at;
  }
  return undefined;
}

/** Without a hint of how many bytes are right. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let differing = a.length ^ b.length;
  for (let at = 0; at < a.length; at += 1) differing |= (a[at] ?? 0) ^ (b[at] ?? 0);
  return differing === 0;
}

function partsOf(direction: Sealable): (string | number | boolean | null)[] {
  if (direction.kind === 'resume') return [direction.kind, direction.merchantId];
  const { kind, network, merchantId } = direction;
  if (direction.kind === 'asked') {
    const { id, address, contractAllowed, askedBy, askedFrom, countsAt } = direction;
    return [
      kind,
      network,
      merchantId,
      id,
      address,
      contractAllowed,
      askedBy,
      askedFrom,
      countsAt.toISOString(),
    ];
  }
  if (direction.kind === 'destination') return [kind, network, merchantId, direction.address];
  const { addressKey, customerId, mode, walletIndex } = direction;
  return [kind, network, merchantId, addressKey, customerId, mode, walletIndex];
}
