// What people decide about payouts.

/** `retry`: look at an address again now, whatever it waits for. */
export type PayoutDecisionKind = 'pause' | 'resume' | 'retry';

/** Nothing new is signed: for one merchant, or (null) for the whole installation. */
export type Pause = {
  readonly merchantId: string | null;
  readonly byName: string;
  readonly reason: string | null;
  readonly at: Date;
};

/**
 * Why nothing is planned and signed, as a sentence with what lets it go on. What a person gave as the reason
 * comes last: it may be as long as the column that the sentence is stored in.
 */
export function describePause({ merchantId, byName, reason, at }: Pause): string {
  const whose = merchantId === null ? 'all payouts are' : 'payouts of the merchant are';
  const why = reason === null ? '' : `; the reason given: ${reason}`;
  const command = merchantId === null ? 'payout resume' : `payout resume --merchant ${merchantId}`;
  return `${whose} paused by ${byName} since ${at.toISOString().slice(0, 19)}Z: "${command}" lets them go on; what is signed already goes on${why}`;
}
