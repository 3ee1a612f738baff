// A million addresses in memory, found without making garbage: open addressing over typed arrays, 21 bytes
// a slot. A Set<string> of the same takes more than twice the memory and keeps the garbage collector busy.
import type { AddressLookup } from './reader.ts';

/**
 * What an address is to us. Only deposit addresses receive money that counts; what
 * either kind sends never counts as a deposit.
 */
export type AddressRole = 'deposit' | 'gas';

const DEPOSIT = 1;
const GAS = 2;
/** Above the two roles, a slot's byte holds six bits of the address: enough to pass most others over. */
const MARK_SHIFT = 2;
const MARK_MASK = 0x3f;
/** Addresses are hashes already; the mixing only keeps hand-made ones (0x…01, 0x…02) apart. */
const GOLDEN = 0x9e3779b1;
const HIGH = 0xff00_0000;
const WORDS = 5;
const MAX_FILL = 0.7;
const INVALID = 0xff;

/** Hex digit values by character code; everything else is INVALID. */
const DIGIT = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < 16; value++) {
  DIGIT[value.toString(16).charCodeAt(0)] = value;
  DIGIT[value.toString(16).toUpperCase().charCodeAt(0)] = value;
}

/**
 * Set of 20-byte addresses, each with its role. Nothing
 * is ever removed: what was our address once stays ours.
 */
export class AddressSet implements AddressLookup {
  #size = 0;
  #shift: number;
  #mask: number;
  #words: Uint32Array;
  #flags: Uint8Array;

  /** `expected` addresses fit without growing; more are fine. */
  constructor(expected = 0) {
    let bits = 10;
    while (expected > 2 ** bits * MAX_FILL && bits < 30) bits++;
    this.#shift = 32 - bits;
    this.#mask = 2 ** bits - 1;
    this.#words = new Uint32Array(2 ** bits * WORDS);
    this.#flags = new Uint8Array(2 ** bits);
  }

  get size(): number {
    return this.#size;
  }

  /** What the table itself takes, in bytes. */
  get byteLength(): number {
    return this.#words.byteLength + this.#flags.byteLength;
  }

  /**
   * Adds an address (0x + 40 hex digits of any case, or 40 hex digits); adding it again adds
   * only the role. Returns whether it was new. Throws on anything else: a deposit address
   * that cannot be watched must not go unnoticed.
   */
  add(address: string, role: AddressRole = 'deposit'): boolean {
    const offset = startOf(address);
    if (address.length !== offset + 40) throw new Error('an address to watch must be 0x and 40 hex digits');
    for (let i = 0; i < WORDS; i++) {
      if (readWord(address, offset + i * 8) < 0)
        throw new Error('an address to watch must be 0x and 40 hex digits');
    }
    if (this.#size + 1 > this.#flags.length * MAX_FILL) this.#grow();
    const slot = this.#find(address, offset);
    const before = this.#flags[slot] ?? 0;
    const mark = (digestAt(address, offset) & MARK_MASK) << MARK_SHIFT;
    this.#flags[slot] = before | (role === 'deposit' ? DEPOSIT : GAS) | mark;
    if (before !== 0) return false;
    for (let i = 0; i < WORDS; i++) this.#words[slot * WORDS + i] = readWord(address, offset + i * 8);
    this.#size++;
    return true;
  }

  has(text: string, offset = startOf(text)): boolean {
    return ((this.#flags[this.#find(text, offset)] ?? 0) & DEPOSIT) !== 0;
  }

  isOwn(text: string, offset = startOf(text)): boolean {
    return (this.#flags[this.#find(text, offset)] ?? 0) !== 0;
  }

  /** The slot that holds the address, or the free one where it would go. */
  #find(text: string, offset: number): number {
    const digest = digestAt(text, offset);
    const mark = digest & MARK_MASK;
    let slot = Math.imul(digest, GOLDEN) >>> this.#shift;
    for (let flag = this.#flags[slot] ?? 0; flag !== 0; flag = this.#flags[slot] ?? 0) {
      // The bytes of flags stay in the processor's cache, and the words do not: a look at them is far dearer.
      if (flag >> MARK_SHIFT === mark && this.#wordsEqual(slot * WORDS, text, offset)) return slot;
      slot = (slot + 1) & this.#mask; // Ends: at least 30 % of the slots are free.
    }
    return slot;
  }

  /** Never for text that is no address. */
  #wordsEqual(at: number, text: string, offset: number): boolean {
    for (let i = 0; i < WORDS; i++) if (this.#words[at + i] !== readWord(text, offset + i * 8)) return false;
    return true;
  }

  #grow(): void {
    const words = this.#words;
    const flags = this.#flags;
    this.#shift--;
    this.#mask = this.#mask * 2 + 1;
    this.#words = new Uint32Array(words.length * 2);
    this.#flags = new Uint8Array(flags.length * 2);
    for (let slot = 0; slot < flags.length; slot++) {
      const flag = flags[slot] ?? 0;
      if (flag === 0) continue;
      const from = slot * WORDS;
      const digest = ((words[from] ?? 0) & HIGH) | ((words[from + 4] ?? 0) & ~HIGH);
      let to = Math.imul(digest, GOLDEN) >>> this.#shift;
      while (this.#flags[to] !== 0) to = (to + 1) & this.#mask;
      this.#flags[to] = flag;
      this.#words.set(words.subarray(from, from + WORDS), to * WORDS);
    }
  }
}

function startOf(text: string): number {
  return text.charCodeAt(0) === 48 && (text.charCodeAt(1) | 32) === 120 ? 2 : 0;
}

/**
 * What an address is looked for by: its first two digits and its last six. Text that is no address gets some
 * number too, since every address of every block comes by here and hardly any is ours.
 */
function digestAt(text: string, offset: number): number {
  let digest = (digitOf(text.charCodeAt(offset)) << 4) | digitOf(text.charCodeAt(offset + 1));
  for (let i = offset + 34; i < offset + 40; i++) digest = (digest << 4) | digitOf(text.charCodeAt(i));
  return digest;
}

/** Of a hex digit in either case; of any other character it is a number without meaning. */
function digitOf(character: number): number {
  return ((character & 15) + (character >> 6) * 9) & 15;
}

/** Eight hex digits from `offset` as an unsigned number; -1 where there are not eight of them. */
function readWord(text: string, offset: number): number {
  let high = 0;
  let low = 0;
  let seen = 0;
  for (let i = offset; i < offset + 4; i++) {
    const a = DIGIT[text.charCodeAt(i)] ?? INVALID;
    const b = DIGIT[text.charCodeAt(i + 4)] ?? INVALID;
    seen |= a | b;
    high = (high << 4) | a;
    low = (low << 4) | b;
  }
  return seen > 15 ? -1 : high * 0x1_0000 + low;
}
