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

/** Why nothing is planned and signed, as a sentence that ends with what lets it go on. */
export function describePause({ merchantId, byName, reason, at }: Pause): string {
  const whose = merchantId === null ? 'all payouts are' : 'payouts of the merchant are';
  const why = reason === null ? '' : ` (${reason})`;
  const command = merchantId === null ? 'payout resume' : `payout resume --merchant ${merchantId}`;
  return `${whose} paused by ${byName} since ${at.toISOString().slice(0, 19)}Z${why}: "${command}" lets them go on; what is signed already goes on`;
}
