// The wire format of protocol buffers, read as nodes read it: whoever signs may write a number with more
// digits than it needs, a member twice, and members that nobody knows. Its bytes are valid all the same.

/** A part of some bytes. */
export type Part = { readonly from: number; readonly to: number };
/** A number of at most 64 bits, or where its bytes stand. */
export type WireValue = number | bigint | Part;

/** How a member stands on the wire; the fifth and sixth begin and end a group, which old versions knew. */
const [VARINT, EIGHT_BYTES, BYTES, GROUP, GROUP_END, FOUR_BYTES] = [0, 1, 2, 3, 4, 5] as const;
const VARINT_BYTES = 10;

/**
 * The members of a message that have these tags (eight times the number, and how it stands there), in the
 * order of the tags, each as it was written last. Undefined for bytes that no node reads as a message.
 */
export function membersOnWire(
  bytes: Uint8Array,
  part: Part,
  tags: readonly number[],
): readonly (WireValue | undefined)[] | undefined {
  const wire = new Wire(bytes, part);
  const members: (WireValue | undefined)[] = tags.map(() => undefined);
  while (wire.at < part.to) {
    const tag = wire.tag();
    if (tag === undefined) return undefined;
    const value = wire.value(tag);
    if (value === undefined) return undefined;
    // One of a known number that stands there in another way is one that nobody knows.
    const at = tags.indexOf(tag);
    if (at >= 0) members[at] = value;
  }
  return members;
}

class Wire {
  at: number;
  readonly #bytes: Uint8Array;
  readonly #to: number;

  constructor(bytes: Uint8Array, { from, to }: Part) {
    this.#bytes = bytes;
    this.at = from;
    this.#to = to;
  }

  /** The number of a member and how it stands there; undefined for none. */
  tag(): number | undefined {
    const tag = this.#small();
    return tag === undefined || tag >>> 3 === 0 ? undefined : tag;
  }

  value(tag: number): WireValue | undefined {
    const kind = tag & 7;
    if (kind === VARINT) return this.#varint();
    if (kind === GROUP) return this.#group(tag);
    const length = this.#length(kind);
    if (length === undefined || length > this.#to - this.at) return undefined;
    const from = this.at;
    this.at += length;
    return { from, to: this.at };
  }

  #length(kind: number): number | undefined {
    if (kind === BYTES) return this.#small();
    if (kind === EIGHT_BYTES) return 8;
    return kind === FOUR_BYTES ? 4 : undefined;
  }

  #group(begin: number): Part | undefined {
    const from = this.at;
    const open = [begin >>> 3];
    while (open.length > 0) {
      const tag = this.at < this.#to ? this.tag() : undefined;
      if (tag === undefined) return undefined;
      if ((tag & 7) === GROUP) open.push(tag >>> 3);
      else if ((tag & 7) === GROUP_END) {
        if (open.pop() !== tag >>> 3) return undefined;
      } else if (this.value(tag) === undefined) return undefined;
    }
    return { from, to: this.at };
  }

  /** A tag or a length: of more than 32 bits the lower ones count. */
  #small(): number | undefined {
    const value = this.#varint();
    if (typeof value === 'number' && value < 2 ** 32) return value;
    return value === undefined ? undefined : Number(BigInt.asUintN(32, BigInt(value)));
  }

  #varint(): number | bigint | undefined {
    // Nearly all tags, types and lengths are of one byte.
    const first = this.#bytes[this.at] ?? 0x80;
    if (first < 0x80 && this.at < this.#to) {
      this.at++;
      return first;
    }
    let value = 0;
    let high = 0n;
    for (let digit = 0; digit < VARINT_BYTES && this.at < this.#to; digit++) {
      const byte = this.#bytes[this.at++] ?? 0;
      const bits = byte & 0x7f;
      if (digit < 7) value += bits * 2 ** (7 * digit);
      else high |= BigInt(bits) << BigInt(7 * digit);
      if (byte < 0x80) return high === 0n ? value : BigInt.asIntN(64, BigInt(value) | high);
    }
    return undefined;
  }
}
