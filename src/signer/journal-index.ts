// What can be asked of the signer's journal.
import type { AddressKey } from '../chains/address-key.ts';
import type { Network } from '../domain/assets.ts';
import { movesMoney, SENT_PURPOSES } from '../domain/payouts/purpose.ts';
import {
  type DestinationLine,
  hashOfLine,
  type JournalLine,
  NO_LINE,
  type PauseLine,
  parseLine,
  type SignedLine,
} from './journal-lines.ts';
import { KeyIndex, LineNumbers } from './journal-places.ts';
import { DEPOSIT_BYTES, type Scanned, scanSigned, tailAt, tailOf } from './journal-scan.ts';
import { MovedOfLate } from './moved.ts';

/** The file that lines are read from again. */
export type LineFile = {
  read(at: number, length: number): Buffer;
  /** Line `n` is not what it was when it was read first. */
  broken(n: number): Error;
};

/** What a line ends with: the hash of the one before, a quote and a brace. */
const PREVIOUS_BYTES = 66;
const MOST_CACHED = 32;
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
  readonly moved = new MovedOfLate((after, since) => ({
    upTo: this.length,
    lines: this.#movedAfter(after, since),
  }));
  readonly #file: LineFile;
  readonly #lines = new LineNumbers();
  readonly #keys = new KeyIndex();
  readonly #cached = new Map<number, SignedLine>();
  readonly #destinations = new Map<string, DestinationLine>();
  readonly #changed = new Set<string>();
  readonly #approvals = new Map<string, Date>();
  readonly #pauses = new Map<string | null, PauseLine>();

  constructor(file: LineFile) {
    this.#file = file;
  }

  /** How many lines there are. */
  get length(): number {
    return this.#lines.length;
  }

  /**
   * Takes the next line over, which lies between two places of `bytes`, without its end. False where it does
   * not follow the last one, or is none.
   */
  add(bytes: Buffer, from: number, to: number): boolean {
    const n = this.length + 1;
    const signed = scanSigned(bytes, from, to);
    if (signed) {
      const previous = bytes.toString('latin1', to - PREVIOUS_BYTES, to - 2);
      if (n === 1 || signed.n !== n || previous !== this.head) return false;
      this.#addSigned(bytes, signed);
    } else {
      const line = parseLine(bytes.toString('utf8', from, to));
      if (line?.n !== n || line.previous !== this.head || (line.kind === 'begun') !== (n === 1)) return false;
      if (!this.#addOther(line)) return false;
    }
    this.head = hashOfLine(bytes.subarray(from, to));
    this.end += to - from + 1;
    return true;
  }

  #addOther(line: JournalLine): boolean {
    if (line.kind === 'signed') return false;
    if (line.kind === 'begun') {
      this.id = line.journal;
      this.begunAt = new Date(line.at);
    }
    if (line.kind === 'pause') this.#pauses.set(line.merchant_id, line);
    if (line.kind === 'destination') this.#addDestination(line);
    if (line.kind === 'approved')
      this.#approvals.set(`${line.merchant_id}:${line.network}:${line.address}`, new Date(line.approved_at));
    this.#lines.add(this.end, 0, 0, 0);
    return true;
  }

  /** An address that was set again is as old as before. What follows none is a first one, too. */
  #addDestination(line: DestinationLine): void {
    const name = `${line.merchant_id}:${line.network}`;
    const known = this.#destinations.get(name);
    const isSame = known?.address === line.address;
    if (known && known.address !== null && !isSame) this.#changed.add(name);
    this.#destinations.set(name, isSame ? { ...line, at: known.at } : line);
  }

  /** By its hash, payout and deposits, the wallet whose place it takes and the address that it serves. */
  #addSigned(bytes: Buffer, signed: Scanned): void {
    const { n, purpose, nonce } = signed;
    const isPayout = purpose === 'payout';
    const code = 1 + SENT_PURPOSES.indexOf(purpose);
    const seconds = Math.min(Math.floor(signed.atMs / 1_000), MOST_SECONDS);
    this.#lines.add(this.end, code, seconds, nonce === null ? 0 : nonce + 1);
    this.#keys.add(tailAt(bytes, signed.hash), n);
    this.#keys.add(tailAt(bytes, signed.payout), n);
    for (let one = 0; one < signed.depositCount; one += 1)
      this.#keys.add(tailAt(bytes, signed.deposit - one * DEPOSIT_BYTES), n);
    if (isPayout || nonce !== null) this.#keys.add(tailAt(bytes, signed.from), n);
    if (!isPayout) this.#keys.add(tailAt(bytes, signed.to), n);
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
    this.#visit(to, (line) => {
      if (line.network !== network) return false;
      if (line.purpose === 'gas' && line.to === to) found.push(line);
      return line.purpose === 'payout' && line.from === to;
    });
    return found.reverse();
  }

  /** What an address was lent, taken back or not. */
  lentTo(network: Network, to: AddressKey): readonly SignedLine[] {
    return this.given(network, to).filter(({ purpose }) => purpose === 'delegate');
  }

  /** The highest nonce that was signed for a wallet. */
  lastNonce(network: Network, from: AddressKey): number | undefined {
    let last = -1;
    this.#keys.visit(tailOf(from), (n) => {
      const nonce = this.#lines.nonce(n) - 1;
      if (nonce <= last) return false;
      const line = this.#signed(n);
      if (line.network === network && line.from === from) last = nonce;
      return false;
    });
    return last < 0 ? undefined : last;
  }

  /** Whether a wallet has signed something in this place. */
  holds(network: Network, from: AddressKey, nonce: number): boolean {
    let holds = false;
    this.#keys.visit(tailOf(from), (n) => {
      if (this.#lines.nonce(n) - 1 !== nonce) return false;
      const line = this.#signed(n);
      holds = line.network === network && line.from === from;
      return holds;
    });
    return holds;
  }

  /** The destination of a merchant as it was seen last. */
  destination(merchantId: string, network: Network): DestinationLine | undefined {
    return this.#destinations.get(`${merchantId}:${network}`);
  }

  /** Whether a merchant's destination is another one than the first that was seen. */
  hasChangedDestination(merchantId: string, network: Network): boolean {
    return this.#changed.has(`${merchantId}:${network}`);
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
    const seconds = Math.floor(since.getTime() / 1_000);
    for (let n = after + 1; n <= this.length; n += 1) {
      const purpose = SENT_PURPOSES[this.#lines.code(n) - 1];
      if (purpose && movesMoney(purpose) && this.#lines.seconds(n) >= seconds) yield this.#signed(n);
    }
  }

  #all(key: string, isIt: (line: SignedLine) => boolean): readonly SignedLine[] {
    const found: SignedLine[] = [];
    this.#visit(key, (line) => {
      if (isIt(line)) found.push(line);
      return false;
    });
    return found.reverse();
  }

  /** Lines that may be of a key, the newest first: of two keys that look alike both. */
  #visit(key: string, isLast: (line: SignedLine) => boolean): void {
    this.#keys.visit(tailOf(key), (n) => isLast(this.#signed(n)));
  }

  /** It was looked at when it was added, and is the same still. */
  #signed(n: number): SignedLine {
    const known = this.#cached.get(n);
    if (known) return known;
    const { amount, price, ...line } = JSON.parse(this.#bytes(n).toString('utf8'));
    const signed = { ...line, amount: BigInt(amount), price: price === null ? null : BigInt(price) };
    if (this.#cached.size === MOST_CACHED) this.#cached.clear();
    this.#cached.set(n, signed);
    return signed;
  }

  /** Throws where it is not the line that the next one names as the one before. */
  #bytes(n: number): Buffer {
    const isLast = n === this.length;
    const [at, next] = [this.#lines.at(n), isLast ? this.end : this.#lines.at(n + 1)];
    const end = n + 2 > this.length ? this.end : this.#lines.at(n + 2);
    const read = this.#file.read(at, end - at);
    const line = read.subarray(0, next - at - 1);
    const previous = read.toString('latin1', read.length - PREVIOUS_BYTES - 1, read.length - 3);
    if (read.length < end - at || hashOfLine(line) !== (isLast ? this.head : previous))
      throw this.#file.broken(n);
    return line;
  }
}
