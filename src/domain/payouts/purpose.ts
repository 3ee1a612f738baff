/**
 * What a transaction of ours is for: it pays out, brings coins for a fee, lends an address what a stake
 * gives, or takes that back.
 */
export const SENT_PURPOSES = ['payout', 'gas', 'delegate', 'reclaim'] as const;
export type SentPurpose = (typeof SENT_PURPOSES)[number];

/** Those that move money. What is lent of a stake moves none: no balance, limit or ledger counts it. */
export const MONEY_PURPOSES = ['payout', 'gas'] as const satisfies readonly SentPurpose[];

/** Whether a transaction for this moves money. */
export function movesMoney(purpose: SentPurpose): purpose is (typeof MONEY_PURPOSES)[number] {
  return (MONEY_PURPOSES as readonly SentPurpose[]).includes(purpose);
}
