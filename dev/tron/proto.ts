// The wire format of protocol buffers, as far as transactions of Tron use it.

/** One field as it stands on the wire: a varint as a signed 64-bit number, everything else as its bytes. */
export type Field = { readonly number: number; readonly value: bigint | Buffer };

const VARINT = 0;
const BYTES = 2;

/** The fields of a message in their order. Throws a sentence for bytes that are no message. */
export function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, value);
    }
    throw new Error('Protocol message contained an invalid varint.');
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const number = tag >> 3;
    if ((tag & 7) === VARINT) {
      fields.push({ number, value: varint() });
      continue;
    }
    if ((tag & 7) !== BYTES || number === 0) throw new Error('Protocol message tag had invalid wire type.');
    const end = Number(varint()) + at;
    if (end < at || end > bytes.length) throw new Error('Protocol message was cut short.');
    fields.push({ number, value: bytes.subarray(at, end) });
    at = end;
  }
  return fields;
}

function varintBytes(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** One field on the wire. Zero and nothing are left out, as the third version of the format does. */
export function writeField(number: number, value: bigint | Uint8Array | undefined): Buffer {
  if (value === undefined || (typeof value === 'bigint' ? value === 0n : value.length === 0))
    return Buffer.alloc(0);
  return writePresent(number, value);
}

/** The same for a member of a list, which is there however empty it is. */
export function writePresent(number: number, value: bigint | Uint8Array): Buffer {
  if (typeof value === 'bigint')
    return Buffer.concat([varintBytes(BigInt((number << 3) | VARINT)), varintBytes(value)]);
  const head = [varintBytes(BigInt((number << 3) | BYTES)), varintBytes(BigInt(value.length))];
  return Buffer.concat([...head, value]);
}
