// What can be asked of the signer's journal.
import { closeSync, openSync, readSync } from 'node:fs';
import type { AddressKey } from '../chains/address-key.ts';
import type { Network } from '../domain/assets.ts';
import { movesMoney } from '../domain/payouts/purpose.ts';
import {
  type DestinationLine,
  hashOfLine,
  type JournalLine,
  NO_LINE,
  type PauseLine,
  readLine,
  type SignedLine,
} from './journal-lines.ts';
import { MovedOfLate } from './moved.ts';

/** `at` is when it was seen first, and `changed` is true once it is another one than the first of all. */
type SeenDestination = DestinationLine & { readonly changed: boolean };

/** What a line ends with: the hash of the one before, a quote and a brace. */
const PREVIOUS_BYTES = 66;
const MOST_SECONDS = 2 ** 32 - 1;

/**
 * What the lines say. Of each only its place and some numbers are kept in memory, and of its keys a part: the
 * rest is read from the file, and held to the hash that the next line has of it.
 */
export class JournalIndex {
  id = '';
  begunAt = new Date(0);
  /** The hash of the last line. */
  head = NO_LINE;
  /** Where the next line begins in the file. */
  end = 0;
  readonly moved = new MovedOfLate((after, since) => this.#movedAfter(after, since));
  readonly #file: string;
  readonly #broken: (n: number) => Error;
  /** Of each line where it begins, when it moved money (in seconds), one more than its nonce; 0 for none. */
  readonly #places = new Numbers(Float64Array);
  readonly #movedAt = new Numbers(Uint32Array);
  readonly #nonces = new Numbers(Uint32Array);
  readonly #keys = new KeyIndex();
  readonly #destinations = new Map<string, SeenDestination>();
  readonly #approvals = new Map<string, Date>();
  readonly #pauses = new Map<string | null, PauseLine>();

  /** Lines are read again from the file; `broken` is thrown for one that is not what it was. */
  constructor(file: string, broken: (n: number) => Error) {
    this.#file = file;
    this.#broken = broken;
  }

  /** How many lines there are. */
  get length(): number {
    return this.#places.length;
  }

  /** Takes the next line over, without its end. False where it does not follow the last one, or is none. */
  add(bytes: Buffer): boolean {
    const n = this.length + 1;
    const line = readLine(bytes);
    if (line?.n !== n || line.previous !== this.head || (line.kind === 'begun') !== (n === 1)) return false;
    this.#note(line);
    const isSigned = line.kind === 'signed';
    const seconds = Math.min(Math.floor(Date.parse(line.at) / 1_000), MOST_SECONDS);
    this.#places.push(this.end);
    this.#movedAt.push(isSigned && movesMoney(line.purpose) ? seconds : 0);
    this.#nonces.push(isSigned && line.nonce !== null ? line.nonce + 1 : 0);
    this.head = hashOfLine(bytes);
    this.end += bytes.length + 1;
    return true;
  }

  #note(line: JournalLine): void {
    if (line.kind === 'begun') {
      this.id = line.journal;
      this.begunAt = new Date(line.at);
    }
    if (line.kind === 'pause') this.#pauses.set(line.merchant_id, line);
    if (line.kind === 'destination') this.#addDestination(line);
    if (line.kind === 'approved')
      this.#approvals.set(`${line.merchant_id}:${line.network}:${line.address}`, new Date(line.approved_at));
    if (line.kind !== 'signed') return;
    const isPayout = line.purpose === 'payout';
    const wallets = [...(isPayout || line.nonce !== null ? [line.from] : []), ...(isPayout ? [] : [line.to])];
    for (const key of [line.hash, line.payout_id, ...line.deposits, ...wallets]) this.#keys.add(key, line.n);
  }

  /** An address that was set again is as old as before. What follows none is a first one, too. */
  #addDestination(line: DestinationLine): void {
    const name = `${line.merchant_id}:${line.network}`;
    const known = this.#destinations.get(name);
    const isSame = known?.address === line.address;
    const changed = known !== undefined && (known.changed || (known.address !== null && !isSame));
    this.#destinations.set(name, { ...line, at: known && isSame ? known.at : line.at, changed });
  }

  /** What was signed for a payout, in order. */
  ofPayout(purpose: SignedLine['purpose'], payoutId: string): readonly SignedLine[] {
    return this.#all(payoutId, (line) => line.purpose === purpose && line.payout_id === payoutId);
  }

  /** What was signed that pays a deposit out, in order. */
  ofDeposit(depositId: string): readonly SignedLine[] {
    return this.#all(depositId, ({ deposits }) => deposits.includes(depositId));
  }

  /** What was signed under a hash; undefined for what was not signed here. */
  ofHash(hash: string): SignedLine | undefined {
    return this.#all(hash, (line) => line.hash === hash).at(-1);
  }

  /** What an address was given or lent, and what of that was taken back, in order. */
  given(network: Network, to: AddressKey): readonly SignedLine[] {
    return this.#all(to, (line) => line.purpose !== 'payout' && line.network === network && line.to === to);
  }

  /** What an address was given since something was last paid out of it, whatever for. */
  topUps(network: Network, to: AddressKey): readonly SignedLine[] {
    const found: SignedLine[] = [];
    for (const n of this.#keys.of(to)) {
      const line = this.#signed(n);
      if (line.network !== network) continue;
      // What came before is not read: it is all that the address ever paid.
      if (line.purpose === 'payout' && line.from === to) break;
      if (line.purpose === 'gas' && line.to === to) found.push(line);
    }
    return found.reverse();
  }

  /** The highest nonce that was signed for a wallet. */
  lastNonce(network: Network, from: AddressKey): number | undefined {
    let last = 0;
    for (const n of this.#keys.of(from))
      if (this.#nonces.at(n) > last && this.#isFrom(n, network, from)) last = this.#nonces.at(n);
    return last === 0 ? undefined : last - 1;
  }

  /** Whether a wallet has signed something in this place. */
  holds(network: Network, from: AddressKey, nonce: number): boolean {
    for (const n of this.#keys.of(from))
      if (this.#nonces.at(n) === nonce + 1 && this.#isFrom(n, network, from)) return true;
    return false;
  }

  /** The destination of a merchant as it was seen last. */
  destination(merchantId: string, network: Network): SeenDestination | undefined {
    return this.#destinations.get(`${merchantId}:${network}`);
  }

  /** When an operator approved of a destination last. */
  approvedAt(merchantId: string, network: Network, address: AddressKey): Date | undefined {
    return this.#approvals.get(`${merchantId}:${network}:${address}`);
  }

  /** The last that was seen of pauses of a merchant, or (null) of all payouts. */
  pause(merchantId: string | null): PauseLine | undefined {
    return this.#pauses.get(merchantId);
  }

  /** The hash of line `n`; undefined where there is no such line. */
  hashOf(n: number): string | undefined {
    return n < 1 || n > this.length ? undefined : hashOfLine(this.#bytes(n));
  }

  /** Money that was signed away by lines after this one, and not before that by their own time. */
  *#movedAfter(after: number, since: Date): Iterable<SignedLine> {
    const seconds = Math.max(Math.floor(since.getTime() / 1_000), 1);
    for (let n = after + 1; n <= this.length; n += 1)
      if (this.#movedAt.at(n) >= seconds) yield this.#signed(n);
  }

  #isFrom(n: number, network: Network, from: AddressKey): boolean {
    const line = this.#signed(n);
    return line.network === network && line.from === from;
  }

  /** Of the lines that may be of a key, those that are, in order: two keys may look alike. */
  #all(key: string, isIt: (line: SignedLine) => boolean): readonly SignedLine[] {
    return Array.from(this.#keys.of(key), (n) => this.#signed(n))
      .filter(isIt)
      .reverse();
  }

  #signed(n: number): SignedLine {
    const line = readLine(this.#bytes(n));
    if (line?.kind !== 'signed') throw this.#broken(n);
    return line;
  }

  /** Throws where it is not the line that the next one names as the one before. */
  #bytes(n: number): Buffer {
    const isLast = n === this.length;
    const [at, next] = [this.#places.at(n), isLast ? this.end : this.#places.at(n + 1)];
    const end = n + 2 > this.length ? this.end : this.#places.at(n + 2);
    const read = this.#read(at, end - at);
    const line = read.subarray(0, next - at - 1);
    const previous = read.toString('latin1', read.length - PREVIOUS_BYTES - 1, read.length - 3);
    if (read.length < end - at || hashOfLine(line) !== (isLast ? this.head : previous)) throw this.#broken(n);
    return line;
  }

  /** Fewer bytes where the file has no more, or is there no more. */
  #read(at: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length);
    let fd: number | undefined;
    try {
      fd = openSync(this.#file, 'r');
      return buffer.subarray(0, readSync(fd, buffer, 0, length, at));
    } catch {
      return Buffer.alloc(0);
    } finally {
      if (fd !== undefined) closeSync(fd);
    }
  }
}

type Kind = Float64ArrayConstructor | Uint32ArrayConstructor | Uint16ArrayConstructor;
const CHUNK = 1 << 16;

/** Numbers that take as little memory as they can, counted from 1 on. What is not there is 0. */
class Numbers {
  readonly #kind: Kind;
  readonly #chunks: InstanceType<Kind>[] = [];
  length = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  push(value: number): void {
    if (this.length % CHUNK === 0) this.#chunks.push(new this.#kind(CHUNK));
    (this.#chunks.at(-1) as InstanceType<Kind>)[this.length % CHUNK] = value;
    this.length += 1;
  }

  at(n: number): number {
    return this.#chunks[Math.floor((n - 1) / CHUNK)]?.[(n - 1) % CHUNK] ?? 0;
  }
}

const BUCKETS = 1 << 18;

/**
 * Which lines name a key, by the last 32 bits of it: ten bytes for each key of a line. Two keys may share
 * them, so whoever asks compares the whole key with the line.
 */
class KeyIndex {
  /** Of each bucket its newest entry; of each entry the one before it, the rest of its key, and the line. */
  readonly #newest = new Uint32Array(BUCKETS);
  readonly #before = new Numbers(Uint32Array);
  readonly #rests = new Numbers(Uint16Array);
  readonly #lines = new Numbers(Uint32Array);

  add(key: string, n: number): void {
    const tail = tailOf(key);
    this.#before.push(this.#newest[tail % BUCKETS] ?? 0);
    this.#rests.push(tail >>> 16);
    this.#lines.push(n);
    this.#newest[tail % BUCKETS] = this.#lines.length;
  }

  /** The newest line first, and each once. */
  *of(key: string): Iterable<number> {
    const tail = tailOf(key);
    let last = 0;
    for (let entry = this.#newest[tail % BUCKETS] ?? 0; entry > 0; entry = this.#before.at(entry)) {
      const n = this.#lines.at(entry);
      if (this.#rests.at(entry) !== tail >>> 16 || n === last) continue;
      last = n;
      yield n;
    }
  }
}

/** Of a text that ends otherwise than in hex digits, which is no key, that of none. */
const tailOf = (key: string): number => Number.parseInt(key.slice(-8), 16) || 0;
