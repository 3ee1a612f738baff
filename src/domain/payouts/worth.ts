// Whether a payout is worth what it costs.

/** An amount with what its asset is worth. */
export type Priced = { readonly units: bigint; readonly decimals: number; readonly usd8: bigint };

const BASIS_POINTS = 10_000n;

/**
 * Whether a cost is more than a share of what is moved, in hundredths of a percent, at the same moment's
 * prices. Exact: nothing is rounded.
 */
export function costsTooMuch(cost: Priced, moved: Priced, maxBasisPoints: bigint): boolean {
  return (
    worthOf(cost) * 10n ** BigInt(moved.decimals) * BASIS_POINTS >
    worthOf(moved) * 10n ** BigInt(cost.decimals) * maxBasisPoints
  );
}

/** What a cost is of what is moved, in percent with two digits, rounded up: for a sentence. */
export function percentOf(cost: Priced, moved: Priced): string {
  const whole = worthOf(moved) * 10n ** BigInt(cost.decimals);
  const part = worthOf(cost) * 10n ** BigInt(moved.decimals) * BASIS_POINTS;
  const points = whole === 0n ? 0n : (part + whole - 1n) / whole;
  return `${points / 100n}.${(points % 100n).toString().padStart(2, '0')} %`;
}

const worthOf = ({ units, usd8 }: Priced): bigint => units * usd8;
