/**
 * The life of a payout, one transfer of completed deposits from one of our addresses to the merchant's own
 * wallet. This table is the only definition of which state may follow which; the database holds the same
 * table in a trigger, and a test compares the two.
 */
export const PAYOUT_STATES = ['planned', 'paying', 'settled', 'cancelled', 'failed'] as const;
export type PayoutState = (typeof PAYOUT_STATES)[number];

/** Whether a text is the name of a state. */
export function isPayoutState(text: string): text is PayoutState {
  return (PAYOUT_STATES as readonly string[]).includes(text);
}

/**
 * `planned` covers deposits, and nothing is signed; `paying` begins with signed bytes, which may land from
 * then on, and ends only with what final blocks say. A payout that was cancelled or has failed gives its
 * deposits back: another one may cover them. `settled` follows on `planned` and `failed` only where a final
 * block shows after all that it was paid, and somebody has concluded it by that.
 */
export const PAYOUT_TRANSITIONS: Readonly<Record<PayoutState, readonly PayoutState[]>> = {
  planned: ['paying', 'cancelled', 'settled'],
  paying: ['settled', 'failed'],
  settled: [],
  cancelled: [],
  failed: ['settled'],
};

/** In these a payout covers deposits that are not paid out yet; an address has one such payout at most. */
export const LIVING_PAYOUTS: readonly PayoutState[] = ['planned', 'paying'];

/**
 * The life of a transaction that a payout needs, as the database's trigger holds it too. `asked`: the signer
 * is asked for it. `dead`: it can be in no block any more, as far as final blocks tell. `foreign`: it came
 * from a wallet of ours, and we did not sign it. Only a replaced block takes one back to `sent`.
 */
export const SENT_STATES = ['asked', 'signed', 'sent', 'mined', 'final', 'dead', 'foreign'] as const;
export type SentState = (typeof SENT_STATES)[number];
export const SENT_TRANSITIONS: Readonly<Record<SentState, readonly SentState[]>> = {
  asked: ['signed', 'dead'],
  signed: ['sent', 'mined', 'dead'],
  sent: ['mined', 'dead'],
  mined: ['final', 'sent'],
  final: ['sent'],
  dead: ['mined'],
  foreign: [],
};

/** Whether a payout may go from one state to another. */
export function mayMovePayout(from: PayoutState, to: PayoutState): boolean {
  return PAYOUT_TRANSITIONS[from].includes(to);
}

/**
 * Divides a whole among parts by their weights: each part gets its share rounded down, and what is left goes,
 * one unit each, to those with the largest remainders, the earlier first. The parts sum to the whole. Throws
 * where the weights sum to nothing, or one of them or the whole is below zero.
 */
export function splitByWeight(wholeUnits: bigint, weights: readonly bigint[]): bigint[] {
  const sum = weights.reduce((total, weight) => total + weight, 0n);
  if (sum <= 0n || wholeUnits < 0n || weights.some((weight) => weight < 0n))
    throw new RangeError('a whole is split by weights of zero or more, of which one is more');
  const shares = weights.map((weight, index) => {
    const product = wholeUnits * weight;
    return { index, units: product / sum, remainder: product % sum };
  });
  const byRemainder = shares.toSorted((a, b) =>
    a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1,
  );
  let left = wholeUnits - shares.reduce((total, { units }) => total + units, 0n);
  for (const share of byRemainder) {
    if (left === 0n) break;
    share.units += 1n;
    left -= 1n;
  }
  return shares.map(({ units }) => units);
}

/** What one deposit gets of its payout, and what it bears of the payout's cost, in base units. */
export type SettledPart = { readonly settledUnits: bigint; readonly feeUnits: bigint };

/**
 * The parts of a payout's deposits, in their order. Of a coin, which pays its own fee, net and fee of each
 * deposit sum to its amount; of a token the fee is in the network's coin, and each gets its whole amount, or
 * its share where less arrived. Throws RangeError unless `netUnits` is what the deposits sum to, less the
 * fee where they pay it, or of a token no more than that.
 */
export function settledParts(payout: {
  readonly amounts: readonly bigint[];
  readonly netUnits: bigint;
  readonly feeUnits: bigint;
  readonly paysOwnFee: boolean;
}): SettledPart[] {
  const { amounts, netUnits, feeUnits, paysOwnFee } = payout;
  const gross = amounts.reduce((total, amount) => total + amount, 0n);
  if (paysOwnFee ? netUnits !== gross - feeUnits : netUnits > gross)
    throw new RangeError(`a payout of ${gross} units with a fee of ${feeUnits} does not pay ${netUnits}`);
  const net = splitByWeight(netUnits, amounts);
  const fee = splitByWeight(feeUnits, amounts);
  return amounts.map((amount, index) => {
    const settledUnits = net[index] ?? 0n;
    return { settledUnits, feeUnits: paysOwnFee ? amount - settledUnits : (fee[index] ?? 0n) };
  });
}
