// The wire format of protocol buffers, as far as transactions of Tron use it.

/** One field as it stands on the wire: a varint as a signed 64-bit number, everything else as its bytes. */
export type Field = { readonly number: number; readonly value: bigint | Buffer };

const VARINT = 0;
const BYTES = 2;
/** What no message of Tron has, and a node passes over: numbers of fixed length, and groups. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 };
const [GROUP, GROUP_END] = [3, 4] as const;

/**
 * The fields of a message in their order, without those of kinds that Tron does not use. Throws a sentence
 * for bytes that are no message.
 */
export function readFields(bytes: Buffer): Field[] {
  const fields: Field[] = [];
  const groups: number[] = [];
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
    const [number, kind] = [tag >> 3, tag & 7];
    if (number === 0 || kind > 5) throw new Error('Protocol message tag had invalid wire type.');
    if (kind === GROUP) groups.push(number);
    else if (kind === GROUP_END) {
      if (groups.pop() !== number) throw new Error('Protocol message end-group tag did not match.');
    } else if (kind === VARINT) {
      const value = varint();
      if (groups.length === 0) fields.push({ number, value });
    } else {
      const end = (kind === BYTES ? Number(varint()) : (FIXED[kind] ?? 0)) + at;
      if (end < at || end > bytes.length) throw new Error('Protocol message was cut short.');
      if (kind === BYTES && groups.length === 0) fields.push({ number, value: bytes.subarray(at, end) });
      at = end;
    }
  }
  if (groups.length > 0) throw new Error('Protocol message was cut short.');
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
