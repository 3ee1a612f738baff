// The few members of Tron's messages that a transfer has, written in the one form in which nodes write them.

export type Member = { readonly field: number; readonly value: bigint | Uint8Array };

const [VARINT, BYTES] = [0, 2] as const;

/** The bytes of a message; a number of zero is left out, as nodes do. */
export function encodeMessage(members: readonly Member[]): Buffer {
  return Buffer.concat(
    members.flatMap(({ field, value }) => {
      if (typeof value === 'bigint')
        return value === 0n ? [] : [varint(BigInt((field << 3) | VARINT)), varint(value)];
      return [varint(BigInt((field << 3) | BYTES)), varint(BigInt(value.length)), Buffer.from(value)];
    }),
  );
}

/** The members of a message by field. Throws for bytes that {@link encodeMessage} would not have written. */
export function decodeMessage(bytes: Uint8Array): ReadonlyMap<number, bigint | Buffer> {
  const members = new Map<number, bigint | Buffer>();
  const buffer = Buffer.from(bytes);
  let at = 0;
  const next = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at];
      if (byte === undefined || shift > 63n) throw new Error('the message ends in the middle of a number');
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < buffer.length) {
    const tag = next();
    const field = Number(tag >> 3n);
    const kind = Number(tag & 7n);
    const value = next();
    if (members.has(field) || (kind !== VARINT && kind !== BYTES))
      throw new Error('not a message of a transfer');
    if (kind === BYTES) {
      const to = at + Number(value);
      if (to > buffer.length) throw new Error('the message ends in the middle of a member');
      members.set(field, buffer.subarray(at, to));
      at = to;
    } else members.set(field, value);
  }
  return members;
}

function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest === 0n ? low : low | 0x80);
  } while (rest > 0n);
  return Buffer.from(bytes);
}
