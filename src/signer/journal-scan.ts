// A line of what was signed, read from its bytes and just as the signer writes it: a journal of millions of
// them opens in seconds, which a parser of JSON takes minutes for.
import { CURRENCIES, NETWORKS } from '../domain/assets.ts';
import { SENT_PURPOSES, type SentPurpose } from '../domain/payouts/purpose.ts';

/** What is kept of such a line, and where in the bytes the keys end by which it is asked for. */
export type Scanned = {
  readonly n: number;
  readonly atMs: number;
  readonly purpose: SentPurpose;
  readonly nonce: number | null;
  readonly payout: number;
  /** Where the last deposit ends; `depositCount` of them end {@link DEPOSIT_BYTES} before each other. */
  readonly deposit: number;
  readonly depositCount: number;
  readonly from: number;
  readonly to: number;
  readonly hash: number;
};

/** What each of several deposits takes. */
export const DEPOSIT_BYTES = 39;

// In a pattern these stand for one byte out of a set; every other byte for itself.
const SETS = ['', '0123456789abcdef', '0123456789', '12345678', '89ab'];
const [HEX, DIGIT] = [1, 2] as const;
const ALLOWED = new Uint8Array(SETS.length * 256);
for (const [set, bytes] of SETS.entries())
  for (const byte of Buffer.from(bytes)) ALLOWED[set * 256 + byte] = 1;

const [H, D, VERSION, VARIANT] = ['\x01', '\x02', '\x03', '\x04'] as const;
const UUID = `${H.repeat(8)}-${H.repeat(4)}-${VERSION}${H.repeat(3)}-${VARIANT}${H.repeat(3)}-${H.repeat(12)}`;
const KEY = H.repeat(40);
const HASH = H.repeat(64);
const TIME = `${D.repeat(4)}-${D.repeat(2)}-${D.repeat(2)}T${D.repeat(2)}:${D.repeat(2)}:${D.repeat(2)}.${D.repeat(3)}Z`;
const pattern = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const named = (names: readonly string[]): readonly Uint8Array[] => names.map((name) => pattern(`${name}"`));

const N = pattern('{"n":');
const AT = pattern(`,"at":"${TIME}","kind":"signed","network":"`);
const AT_TIME = ',"at":"'.length;
const PURPOSE = pattern(',"purpose":"');
const PAYOUT = pattern(`,"payout_id":"${UUID}`);
const ATTEMPT = pattern('","attempt":');
const MERCHANT = pattern(`,"merchant_id":"${UUID}","deposits":[`);
const DEPOSIT = pattern(`"${UUID}"`);
const FROM = pattern(`],"from":"${KEY}`);
const TO = pattern(`","to":"${KEY}`);
const CURRENCY = pattern('","currency":"');
const AMOUNT = pattern(',"amount":"');
const PRICE = pattern('","price":');
const NONCE = pattern(',"nonce":');
const EXPIRES = pattern(',"expires_at":');
const [NULL, QUOTE, QUOTED_TIME] = [pattern('null'), pattern('"'), pattern(`"${TIME}"`)];
const [TX, TX_0X] = [pattern(`,"hash":"${HASH}`), pattern(`,"hash":"0x${HASH}`)];
const RAW = pattern('","raw":"');
const PREVIOUS = pattern(`","previous":"${HASH}"}`);
const [NETWORK_NAMES, PURPOSE_NAMES, CURRENCY_NAMES] = [NETWORKS, SENT_PURPOSES, CURRENCIES].map(named) as [
  readonly Uint8Array[],
  readonly Uint8Array[],
  readonly Uint8Array[],
];
const [COMMA, LOWER_N, ZERO] = [0x2c, 0x6e, 0x30];
const MOST_DIGITS = 78;
/** Numbers that are counted with have at most these. */
const COUNT_DIGITS = 15;
/** The highest nonce that has room in what is kept of a line. */
export const MOST_NONCE = 0xffff_fffe;

/** The line between two places, without its end; undefined where it is another one, or written otherwise. */
export function scanSigned(bytes: Uint8Array, begin: number, end: number): Scanned | undefined {
  const nAt = match(bytes, begin, N);
  const nEnd = digits(bytes, nAt, COUNT_DIGITS);
  let at = oneOf(bytes, match(bytes, nEnd, AT), NETWORK_NAMES);
  const purposeAt = match(bytes, at, PURPOSE);
  const payout = match(bytes, oneOf(bytes, purposeAt, PURPOSE_NAMES), PAYOUT);
  const attempt = match(bytes, payout, ATTEMPT);
  at = digits(bytes, attempt, COUNT_DIGITS);
  const list = match(bytes, at, MERCHANT);
  const listEnd = deposits(bytes, list);
  const from = match(bytes, listEnd, FROM);
  const to = match(bytes, from, TO);
  at = oneOf(bytes, match(bytes, to, CURRENCY), CURRENCY_NAMES);
  at = match(bytes, units(bytes, match(bytes, at, AMOUNT)), PRICE);
  at =
    bytes[at] === LOWER_N
      ? match(bytes, at, NULL)
      : match(bytes, units(bytes, match(bytes, at, QUOTE)), QUOTE);
  const nonceAt = match(bytes, at, NONCE);
  const hasNonce = bytes[nonceAt] !== LOWER_N;
  const nonceEnd = hasNonce ? digits(bytes, nonceAt, COUNT_DIGITS) : match(bytes, nonceAt, NULL);
  const expires = match(bytes, nonceEnd, EXPIRES);
  const isForever = bytes[expires] === LOWER_N;
  at = match(bytes, expires, isForever ? NULL : QUOTED_TIME);
  const bare = match(bytes, at, TX);
  const hash = bare < 0 ? match(bytes, at, TX_0X) : bare;
  const rawAt = match(bytes, hash, RAW);
  const rawEnd = run(bytes, rawAt, HEX);
  if (match(bytes, rawEnd, PREVIOUS) !== end || rawEnd - rawAt < 2) return undefined;
  const atMs = timeAt(bytes, nEnd + AT_TIME);
  const nonce = hasNonce ? numberAt(bytes, nonceAt, nonceEnd) : null;
  const purpose = SENT_PURPOSES[nameAt(bytes, purposeAt, PURPOSE_NAMES)];
  const isTimed = !Number.isNaN(atMs) && (isForever || !Number.isNaN(timeAt(bytes, expires + 1)));
  const isCounted = bytes[nAt] !== ZERO && bytes[attempt] !== ZERO && (nonce ?? 0) <= MOST_NONCE;
  if (!isTimed || !isCounted || purpose === undefined) return undefined;
  const n = numberAt(bytes, nAt, nEnd);
  const depositCount = Math.ceil((listEnd - list) / DEPOSIT_BYTES);
  return { n, atMs, purpose, nonce, payout, deposit: listEnd - 1, depositCount, from, to, hash };
}

/** The last eight hex digits before a place, by which a key is looked for: {@link tailOf} of its text. */
export function tailAt(bytes: Uint8Array, end: number): number {
  let tail = 0;
  for (let at = end - 8; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    tail = tail * 16 + (byte < 0x3a ? byte - ZERO : byte - 0x57);
  }
  return tail;
}

/** See {@link tailAt}; of a text that ends otherwise, which is no key, that of none. */
export const tailOf = (key: string): number => Number.parseInt(key.slice(-8), 16) || 0;

// Each goes on from a place, and gives the one after what it found; below 0 where it found nothing.

function match(bytes: Uint8Array, at: number, wanted: Uint8Array): number {
  if (at < 0) return -1;
  const { length } = wanted;
  for (let n = 0; n < length; n += 1) {
    const one = wanted[n] ?? 0;
    const byte = bytes[at + n] ?? 0;
    if (one < SETS.length ? ALLOWED[one * 256 + byte] !== 1 : one !== byte) return -1;
  }
  return at + length;
}

function run(bytes: Uint8Array, begin: number, set: number): number {
  if (begin < 0) return -1;
  let at = begin;
  while (ALLOWED[set * 256 + (bytes[at] ?? 0)] === 1) at += 1;
  return at;
}

/** A number as JSON writes it. */
function digits(bytes: Uint8Array, at: number, most: number): number {
  const end = run(bytes, at, DIGIT);
  return end <= at || end - at > most || (bytes[at] === ZERO && end - at > 1) ? -1 : end;
}

function units(bytes: Uint8Array, at: number): number {
  const end = run(bytes, at, DIGIT);
  return end <= at || end - at > MOST_DIGITS ? -1 : end;
}

function deposits(bytes: Uint8Array, begin: number): number {
  if (begin < 0 || bytes[begin] !== DEPOSIT[0]) return begin;
  let at = match(bytes, begin, DEPOSIT);
  while (at >= 0 && bytes[at] === COMMA) at = match(bytes, at + 1, DEPOSIT);
  return at;
}

function oneOf(bytes: Uint8Array, at: number, names: readonly Uint8Array[]): number {
  return match(bytes, at, names[nameAt(bytes, at, names)] ?? NULL);
}

/** Which of these stands there; below 0 for none. */
function nameAt(bytes: Uint8Array, at: number, names: readonly Uint8Array[]): number {
  let n = names.length - 1;
  while (n >= 0 && match(bytes, at, names[n] ?? NULL) < 0) n -= 1;
  return n;
}

function numberAt(bytes: Uint8Array, begin: number, end: number): number {
  let value = 0;
  for (let at = begin; at < end; at += 1) value = value * 10 + (bytes[at] ?? 0) - ZERO;
  return value;
}

/** In milliseconds; NaN for a day or a time that there is not, or that was before all clocks. */
function timeAt(bytes: Uint8Array, at: number): number {
  const part = (from: number, length: number) => numberAt(bytes, at + from, at + from + length);
  const year = part(0, 4);
  const month = part(5, 2);
  const hours = part(11, 2);
  const minutes = part(14, 2);
  const seconds = part(17, 2);
  const isTime = year >= 1970 && month > 0 && month < 13 && hours < 24 && minutes < 60 && seconds < 60;
  const dayMs = Date.UTC(year, month - 1, part(8, 2));
  if (!isTime || new Date(dayMs).getUTCDate() !== part(8, 2)) return Number.NaN;
  return dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1_000 + part(20, 3);
}
