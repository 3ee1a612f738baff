const DECIMAL = /^(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,60}))?$/;

/** Eight decimals: the fixed point of every USD rate, the same as in Chainlink's USD feeds. */
export const RATE_DECIMALS = 8;
/** The largest value that a `numeric(78,0)` column and an EVM word can hold. */
export const MAX_UNITS = 2n ** 256n - 1n;

/**
 * Parses a plain decimal string into base units. Promises an exact result: more
 * fraction digits than `decimals` (other than zeros), signs, exponents, spaces,
 * leading zeros and values above 2^256-1 throw a RangeError with a sentence.
 */
export function parseUnits(text: string, decimals: number): bigint {
  const match = DECIMAL.exec(text);
  if (!match) throw new RangeError('must be a plain decimal number such as "12.5"');
  const fraction = (match[2] ?? '').replace(/(?<!0)0+$/, '');
  if (fraction.length > decimals) throw new RangeError(`must have at most ${decimals} decimals`);
  const units = BigInt((match[1] ?? '0') + fraction.padEnd(decimals, '0'));
  if (units > MAX_UNITS) throw new RangeError('is too large');
  return units;
}

/**
 * Prints base units as a plain decimal string without trailing zeros: 12500000n with 6 decimals is "12.5".
 */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : '';
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/(?<!0)0+$/, '');
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`;
}

/**
 * The USD value in cents, rounded half up, of an amount in base units at a rate with {@link RATE_DECIMALS}
 * decimals. Never negative input: throws a RangeError, because a negative deposit is a defect.
 */
export function usdCents(amountUnits: bigint, decimals: number, rateUnits: bigint): bigint {
  if (amountUnits < 0n || rateUnits < 0n) throw new RangeError('amount and rate must not be negative');
  const scaled = amountUnits * rateUnits * 100n;
  const divisor = 10n ** BigInt(decimals + RATE_DECIMALS);
  return (scaled * 2n + divisor) / (divisor * 2n);
}

/**
 * Cents as the JSON number of an answer, at most two decimals (1250n is 12.5). Exact up to 2^53
 * cents; beyond that JSON readers lose the cents anyway.
 */
export function centsToJsonNumber(cents: bigint): number {
  return jsonNumber(cents, 2);
}

/** A rate in 8-decimal units as the JSON number of an answer, or null where there is none yet. */
export function rateToJsonNumber(rateUnits: bigint | null): number | null {
  return rateUnits === null ? null : jsonNumber(rateUnits, RATE_DECIMALS);
}

/**
 * The one place where an amount becomes a float: on its way out, as a number in
 * JSON that nothing here calculates with.
 */
function jsonNumber(units: bigint, decimals: number): number {
  return +formatUnits(units, decimals);
}
